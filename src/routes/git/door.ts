/**
 * Pushes what was posted to a door beside Git's own protocol. The push options stand in the
 * address. Nothing is told before the push has ended, because its status comes first. As `curl`
 * sends the content type of a form, a browser could post the same: pages of other sites are
 * refused.
 * Proved by test/e2e/push/bundle.test.ts.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { ByteReader } from '../../git/wire/byte-reader.ts';
import { badRequest } from '../../git/wire/protocol-error.ts';
import { type FaultyRequest, type PushRequest, unreadRequest } from '../../git/wire/push-request.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { isolate } from '../../metrics/isolate.ts';
import { PR_KEY } from '../../push/reply/commands.ts';
import type { Reply } from '../../push/reply/reply.ts';
import { type Arrival, conclude, end, type Outcome } from '../../push/session.ts';
import { ASKED_BY_ANSWER } from '../../push/consent.ts';
import type { PostDoor } from '../../push/push-host.ts';
import { type PushRun, receivedHashOf } from '../../push/push-run.ts';
import type { Received } from '../../push/receive/receive.ts';
import { openPush } from '../../service/open-push.ts';
import { ClientPushLimits } from '../../service/push-limits.ts';
import { memoryFor } from '../../service/scope.ts';
import { discardBody, type LimitedSource } from '../../streams/body.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { sentence } from '../../words/sentence.ts';
import { decoded } from '../request/form-fields.ts';
import { answerRefused, refused } from '../request/refused.ts';
import { hostScopeOf, scopeOf } from '../request/scope.ts';
import { idempotencyKey } from '../threads/posting.ts';
import { answerAccepted, answerPushed, formOf } from './door-answer.ts';
import { announcedBytes } from './git-http.ts';
import { arrived, pushBody, pushTooLarge } from './git-push.ts';
import { KeyedRequest, type PushedAnswer } from './sent-before.ts';

const KEY_IN_ADDRESS = `Give the key in the header ${PR_KEY}, because proxies log addresses.`;
const NOT_UTF8 = 'The options in the address are not UTF-8, encoded with percent signs.';
export const FOREIGN = refused(403, 'A page of another site may not push here.');

export interface Door {
  readonly name: PostDoor['name'];
  readonly maxBytes: number;
  /** The words for a larger body. */
  readonly tooLarge?: string;
  /** Whether `read` asks the limits, before it reads anything. */
  readonly asksLimits?: boolean;
  /** Reads what was posted as a push. Must not reject. */
  readonly read: (
    reader: ByteReader,
    pushOptions: readonly string[],
    memory: MemoryHold,
  ) => Promise<ReadPush>;
}

export interface ReadPush {
  readonly request: PushRequest | FaultyRequest;
  /** Where the pack is read; by default, it is the rest of the body. */
  readonly pack?: ByteReader;
  /** Gives back what the pack is read from. */
  discard?(): Promise<void>;
  /** Names the content, if it becomes other commits when it is sent again. */
  readonly content?: string;
  readonly used?: PostDoor['used'];
}

/** A request to a door. */
export interface Posted {
  readonly body: LimitedSource;
  readonly reader: ByteReader;
  readonly options: readonly string[];
  /** The request as it is recognised when it is sent again; null: it has no key. */
  readonly keyed: KeyedRequest | null;
  readonly reply: Reply;
}

/** A push that has ended. */
type Ended =
  | { readonly kind: 'too-large' }
  /** A request with the same key has opened the pull request before. */
  | { readonly kind: 'opened-before'; readonly answer: PushedAnswer }
  | { readonly kind: 'concluded'; readonly outcome: Outcome; readonly leftOut: readonly string[] };

/** Names everything that was sent, and how it is to be published. */
async function contentOf(
  run: PushRun,
  { request, content }: ReadPush,
  received: Received,
): Promise<readonly string[]> {
  const pushOptions = request.kind === 'push' ? request.pushOptions : [];
  return [
    content ?? (await receivedHashOf(run, received)),
    ...pushOptions.filter((option) => !option.startsWith('yes=')),
  ];
}

/** Answers what was posted, and goes on if the client leaves, because the push may be half done. */
export async function throughDoor(c: Context<AppEnv>, target: RepositoryName, door: Door): Promise<Response> {
  const { maxBytes, tooLarge } = door;
  const body = pushBody(c, maxBytes);
  if (scopeOf(c).isForeign) {
    // A browser that cannot send all never shows the answer.
    await discardBody(body);
    return answerRefused(c, FOREIGN, formOf(c));
  }
  if (announcedBytes(c) > maxBytes) return pushTooLarge(c, body, tooLarge);
  const reply = new LinesReply();
  const head = headOf(c);
  const [through, read]: [Door, Head] =
    typeof head === 'string' ? [refusing(door, head), NO_HEAD] : [door, head];
  const posted = { ...read, body, reader: new ByteReader(body), reply };
  const pushing = pushPosted(c, target, through, posted).then((ended) => {
    if (ended.kind === 'too-large') return pushTooLarge(c, body, tooLarge);
    if (ended.kind === 'opened-before') return answerAccepted(c, ended.answer);
    const { outcome, leftOut } = ended;
    return answerPushed(c, outcome, [...reply.lines, ...leftOut, ...outcome.lines]);
  });
  c.executionCtx.waitUntil(pushing.catch(() => {}));
  return pushing;
}

const NO_HEAD: Head = { options: [], keyed: null };

/** A door that reads nothing, because something is wrong with what stands before the body. */
function refusing(door: Door, problem: string): Door {
  const read = async () => ({ request: unreadRequest(badRequest(problem)) });
  return { ...door, asksLimits: false, read };
}

/** Looks at a push that was concluded, before what it holds is given back. */
type Look = (outcome: Outcome, run: PushRun, arrival: Arrival) => Promise<void>;

/** Pushes what was posted. */
export async function pushPosted(
  c: Context<AppEnv>,
  target: RepositoryName,
  { name, asksLimits, read: readPush }: Door,
  { body, reader, options, keyed, reply }: Posted,
  look: Look = async () => {},
): Promise<Ended> {
  const memory = memoryFor(scopeOf(c));
  try {
    const read = await readPush(reader, options, memory);
    const scope = hostScopeOf(c);
    const limits = new ClientPushLimits(scope, asksLimits);
    const door = { name, used: read.used ?? [] };
    const opening = { memory, limits, consent: ASKED_BY_ANSWER, door, ...keyed?.names };
    const run = openPush(scope, target, reply, opening);
    const arrival = await arrived(c, run, read.request, body, reader, read.pack);
    await read.discard?.();
    if (arrival === null) return { kind: 'too-large' };
    const before = await openedBefore(run, keyed, read, arrival).catch(async (error: unknown) => {
      await end(run, arrival, false);
      throw error;
    });
    if (before === null) return await isolate.during(concluded(run, arrival, look));
    await end(run, arrival, true);
    return { kind: 'opened-before', answer: before };
  } catch (error) {
    memory.end();
    throw error;
  }
}

async function openedBefore(run: PushRun, keyed: KeyedRequest | null, read: ReadPush, { task }: Arrival) {
  if (keyed === null || task.kind !== 'push') return null;
  return keyed.openedBefore(run, await contentOf(run, read, task.received));
}

async function concluded(run: PushRun, arrival: Arrival, look: Look): Promise<Ended> {
  const { outcome, commandStatuses } = await conclude(run, arrival);
  try {
    await look(outcome, run, arrival);
  } finally {
    // A retry finds the pull request, or the push that waits.
    await end(run, arrival, true);
  }
  const leftOut = commandStatuses
    .filter(({ reason }) => reason !== null && outcome.kind !== 'refused')
    .map(({ refName, reason }) => `Left out: ${refName} (${reason})`);
  return { kind: 'concluded', outcome, leftOut };
}

type Head = Pick<Posted, 'options' | 'keyed'>;

/** Reads what stands before the body; or says what is wrong with it. */
function headOf(c: Context<AppEnv>): Head | string {
  const options = pushOptionsOf(c);
  if (typeof options === 'string') return options;
  const key = idempotencyKey(c);
  if (key === undefined) return { options, keyed: null };
  return typeof key === 'string' ? { options, keyed: new KeyedRequest(c, key) } : sentence(key.error);
}

/** Reads the push options; or says what is wrong with them. */
function pushOptionsOf(c: Context<AppEnv>): readonly string[] | string {
  const key = c.req.header(PR_KEY);
  try {
    const options = new URL(c.req.url).search.slice(1).split('&').filter(Boolean).map(decoded);
    if (options.some((option) => /^pr-key\b/.test(option))) return KEY_IN_ADDRESS;
    return key === undefined ? options : [...options, `pr-key=${key}`];
  } catch {
    return NOT_UTF8;
  }
}

/** Gathers everything that a push would tell, secrets included. */
export class LinesReply implements Reply {
  readonly lines: string[] = [];

  async note(...lines: readonly string[]): Promise<void> {
    this.lines.push(...lines);
  }

  noteSame(): void {}

  noteSecret(...lines: readonly string[]): Promise<void> {
    return this.note(...lines);
  }

  async step(): Promise<void> {}
}
