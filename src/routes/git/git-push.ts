/**
 * Push over HTTP (contract, 4.5 and 4.6): discovery, and the request whose story src/push tells.
 * Problems of a push that has begun are told in-band with status 200, because Git hides the text of
 * any other status, and ends with "Everything up-to-date". The exceptions are 413, by contract, and
 * 415 for requests that no Git client sends. In panic, the latter are answered in-band, too.
 * Proved by test/contract/push-by-hand.test.ts.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { ByteReader, type ChunkSource } from '../../git/wire/byte-reader.ts';
import {
  type FaultyRequest,
  type PushRequest,
  readPushRequest,
  unreadRequest,
} from '../../git/wire/push-request.ts';
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import { HostError, isOutOfCalls } from '../../words/host-error.ts';
import { followMoves } from '../../host/redirect.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { systemClock } from '../../isolate/clock.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { isolate } from '../../metrics/isolate.ts';
import { discoverForPush, listAhead } from '../../upstream/discovery.ts';
import { wasPushedTo } from '../../push/publish/publish.ts';
import { SideBandReply } from '../../push/reply/reply.ts';
import { abandon, type Arrival, conclude, end, receive } from '../../push/session.ts';
import type { PushHost } from '../../push/push-host.ts';
import type { PushRun } from '../../push/push-run.ts';
import { drain, type LimitedSource } from '../../streams/body.ts';
import { gitBody } from '../../streams/git-body.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';
import {
  announcedBytes,
  missing,
  NO_CACHE,
  redirectToMoved,
  shownByGit,
  tooManyCalls,
  unreachable,
  answerTooLarge,
  wrongType,
} from './git-http.ts';
import { memoryFor } from '../../service/scope.ts';
import { longBody } from '../request/long-body.ts';
import { answerRefused, BUSY, type Refused, refused } from '../request/refused.ts';
import { scopeOf } from '../request/scope.ts';

export const MAX_PUSH_BYTES = 100 * 1024 * 1024;
/** Generous: the entries of a pack are compressed, so gzip seldom takes more than a third off. */
const INFLATED_PER_ARRIVED = 4;
const REQUEST_TYPE = 'application/x-git-receive-pack-request';
const RESULT_TYPE = 'application/x-git-receive-pack-result';
const ADVERTISEMENT_TYPE = 'application/x-git-receive-pack-advertisement';
/**
 * The time in which the last bytes leave: the runtime takes them before they are on their way, and
 * a machine that dies then has not answered.
 */
const LAST_BYTES_MS = 20;

export async function discoverPush(
  c: Context<AppEnv>,
  target: RepositoryName,
  host: PushHost,
): Promise<Response> {
  const isPushed = wasPushedTo(host, target);
  const discovery = advertised(c, host, target);
  const listed = isPushed ? discovery.then(() => listAhead(host, target)) : discovery;
  // If the client leaves now, it continues, because it must give back what it holds.
  c.executionCtx.waitUntil(listed.catch(() => {}).finally(() => host.memory.end()));
  return discovery;
}

async function advertised(c: Context<AppEnv>, host: PushHost, target: RepositoryName): Promise<Response> {
  try {
    const found = await followMoves(target, (name) => discoverForPush(host, name, c.var.logger));
    const { repository, answer: advertisement } = found;
    if (repository !== target) return redirectToMoved(c, repository, 'git-receive-pack');
    const headers = { 'Content-Type': ADVERTISEMENT_TYPE, ...NO_CACHE };
    return new Response(longBody(c, advertisement), { headers });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === 'missing') return missing(c, target);
    if (error.code === 'busy') return shownByGit(c, BUSY);
    if (isOutOfCalls(error)) return tooManyCalls(c, error);
    return shownByGit(c, unreachable(c, error));
  }
}

interface PushDoor {
  /** True if panic refuses all pushes, by a copy of the switch; false if nobody knows. */
  isSuspended(): Promise<boolean>;
  /** Opens the push once its first lines are read. */
  open(memory: MemoryHold, reply: SideBandReply): PushRun;
}

export async function receivePack(c: Context<AppEnv>, door: PushDoor): Promise<Response> {
  const refusal = wrongType(c, REQUEST_TYPE);
  // The guard does not count it, as any page may make a browser send this.
  if (refusal !== null && !(await door.isSuspended())) return answerRefused(c, refusal, 'text');
  if (announcedBytes(c) > MAX_PUSH_BYTES) return pushTooLarge(c, pushBody(c));
  const memory = memoryFor(scopeOf(c));
  const receiving = received(c, memory, door, refusal).catch((error: unknown) => {
    memory.end();
    throw error;
  });
  // If the client leaves now, the push continues, because it must release what it holds.
  c.executionCtx.waitUntil(receiving.catch(() => {}));
  return receiving;
}

/** Receives the body, from the first byte to the last one, and begins the answer. */
async function received(
  c: Context<AppEnv>,
  memory: MemoryHold,
  door: PushDoor,
  typeRefusal: Refused | null,
): Promise<Response> {
  const body = pushBody(c);
  const reader = new ByteReader(body);
  const request =
    typeRefusal === null
      ? await readPushRequest(reader, memory)
      : unreadRequest(new ProtocolError('bad-request', typeRefusal.error));
  if (request.kind === 'probe') {
    memory.end();
    return result(null);
  }
  const reply = new SideBandReply(request.capabilities);
  const run = door.open(memory, reply);
  const arrival = await arrived(c, run, request, body, reader);
  if (arrival === null) return pushTooLarge(c, body);
  const { readable, writable } = new IdentityTransformStream();
  // It continues also if the client leaves now, because it may be half done on the host.
  c.executionCtx.waitUntil(isolate.during(answer(run, arrival, reply, writable)));
  return result(readable);
}

/**
 * Receives a push to the last byte of its body, because a client does not listen before it has sent
 * everything. Null: the body is over its limit, which is answered at once.
 * @param pack where the pack is read; by default, it is the rest of the body.
 */
export async function arrived(
  c: Context<AppEnv>,
  run: PushRun,
  request: PushRequest | FaultyRequest,
  body: LimitedSource,
  reader: ByteReader,
  pack = reader,
): Promise<Arrival | null> {
  const arrival = await receive(run, request, pack);
  if (arrival.task.kind !== 'push' && !body.isOverLimit) {
    body.discard?.();
    await drain(reader);
  }
  if (!body.isOverLimit) return arrival;
  c.executionCtx.waitUntil(abandon(run, arrival));
  return null;
}

/**
 * Writes the answer while the push is concluded. The first write after a connection has broken
 * seems to succeed; only the next one fails.
 */
async function answer(
  run: PushRun,
  arrival: Arrival,
  reply: SideBandReply,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const writer = new TimedWriter(writable, run.settings.writeTimeoutMs);
  let isAnswered = false;
  try {
    await reply.open((bytes) => writer.write(bytes));
    const { outcome, finalLine, ...report } = await reply.keepAlive(systemClock, conclude(run, arrival));
    await reply.note(...outcome.lines);
    const isWritten = await reply.finish(report, finalLine);
    isAnswered = (await writer.close()) && isWritten;
    if (isAnswered) await systemClock.sleep(LAST_BYTES_MS);
  } finally {
    await end(run, arrival, isAnswered);
  }
}

function result(body: ReadableStream<Uint8Array> | null): Response {
  return new Response(body, { headers: { 'Content-Type': RESULT_TYPE, ...NO_CACHE } });
}

export function pushBody(c: Context<AppEnv>, maxBytes = MAX_PUSH_BYTES): LimitedSource {
  const { readTimeoutMs: timeoutMs } = c.var.config;
  return gitBody(c.req.raw, {
    maxBytes,
    timeoutMs,
    inflatedPerArrived: INFLATED_PER_ARRIVED,
  });
}

export function pushTooLarge(
  c: Context<AppEnv>,
  body: ChunkSource,
  words = 'The push is over 100 MB. Push fewer commits at once.',
): Promise<Response> {
  const refusal = refused(413, words);
  return answerTooLarge(c, body, refusal, 'text');
}
