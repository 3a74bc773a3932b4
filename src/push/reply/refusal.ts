/**
 * Why a push failed, in words: the one place where errors become text; and the steps that need the
 * host, with what each says when it fails or takes long. As in Git's receive-pack, the status table
 * gets a short reason, and the lines above it explain it and say what to do. Only public messages
 * of the two error classes are shown, never a cause.
 */
import { ProtocolError, type ProtocolErrorCode } from '../../git/wire/protocol-error.ts';
import type { GitClient } from '../../git/wire/git-client.ts';
import type { Finding } from '../../words/finding.ts';
import { HostError, hostFailureOf, isRefusedByHost } from '../../words/host-error.ts';
import type { Clock } from '../../isolate/clock.ts';
import { BodyError } from '../../streams/body-error.ts';
import { isStorageFailure } from '../../storage-failure.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { OptionFault } from '../receive/push-options.ts';
import type { Publishable } from '../verdict.ts';
import type { Reply } from './reply.ts';

/** Not "Nothing was changed": the fork may be new, and its branches may have moved. */
const AGAIN = 'No pull request was opened or changed. Push again later.';
const FORKED = 'Push again later: the fork may be ready then.';
const GOES_ON = 'Push the same again later. The service continues where it stopped.';
const LOOKS_FIRST =
  'Push the same commits again later. The service looks for the pull request before it opens another.';
const ONLY_EDIT = 'Its commits are up to date. Push the same commits again to retry.';

/**
 * The text in the status table; the words after "Still waiting for github.com"; the most time that
 * the step may take (null: it has a limit of its own); and the advice.
 */
type Step = readonly [failure: string, waiting: string, limitMs: number | 'shared' | null, next: string];

const STEPS = {
  lookup: ['the repository could not be looked up', 'to answer', 30_000, AGAIN],
  history: ['the history of the repository could not be read', 'to list its history', 75_000, AGAIN],
  fork: ['the fork could not be made', 'to fork the repository', 'shared', FORKED],
  sync: ['the fork could not be brought up to date', 'to bring the fork up to date', 'shared', AGAIN],
  push: ['the commits could not be sent to the fork', 'to take the commits', null, GOES_ON],
  offer: ['the pull request could not be opened or updated', 'to take the commits', null, LOOKS_FIRST],
  'pull-request': ['the pull request could not be opened', 'to open the pull request', 'shared', LOOKS_FIRST],
  edit: ['the pull request could not be edited', 'to edit the pull request', 'shared', ONLY_EDIT],
  withdrawal: [
    'the pull request could not be withdrawn completely',
    'to close the pull request',
    75_000,
    GOES_ON,
  ],
} as const satisfies Record<string, Step>;
/** The most time for preparing the fork and opening the pull request, together. */
const SHARED_MS = 75_000;
const LINE_INTERVAL_MS = 10_000;

export type HostStep = keyof typeof STEPS;

/** Whether the code host has failed, or was silent for too long. */
export function isOfHost({ code }: Refusal): boolean {
  return Object.hasOwn(STEPS, code);
}

/** Whether panic or a limit refuses, which comes before everything else, and stands alone. */
export function isOfLimits({ code }: Refusal): boolean {
  return code === 'suspended' || code === 'rate-limited';
}

/** Push attempts that the metrics count by themselves. */
const SPECIAL_OUTCOMES = ['suspended', 'rate-limited', 'preview'] as const;
type SpecialOutcome = (typeof SPECIAL_OUTCOMES)[number];

/** The reason, for programs and for the log. Nothing in it comes from the person. */
export type RefusalCode = HostStep | SpecialOutcome | Waits | OfRequest | OfRepository | OfWork | OfService;
/**
 * The bot account may not go on now, or another push or pull request, or somebody else's commits
 * come first.
 */
type Waits = 'account' | 'in-progress' | 'overtaken' | 'double' | 'others-work' | OfPerson;
/** The person has left, or has not agreed to the warnings. */
type OfPerson = 'stopped' | 'unconfirmed';
/** Faults in what was sent. `fsck`: Git's own check at the host would find them. */
type OfRequest = OfPack | 'patch' | 'bad-request' | 'too-large' | 'options' | 'pr-hash' | 'pr-key';
type OfPack = 'bad-pack' | 'fsck' | 'incomplete' | 'not-rewritable';
/** Reasons in the repository. `stated`, `workflows`: its policy asks for it. */
type OfRepository = 'missing' | 'archived' | 'empty' | 'repository-size' | OfPolicy;
type OfPolicy = 'policy' | 'policy-unread' | 'sign-off' | 'stated' | 'workflows';
type OfWork =
  | 'base'
  | 'fetch-first'
  | 'names'
  | 'noise'
  | 'not-open'
  | 'nothing-new'
  | 'one-branch'
  | 'squash'
  | 'trails'
  | 'unsearchable';
type OfService = 'busy' | 'clock' | 'delay' | 'delays-full' | 'internal' | 'unguarded';

/** Texts that a push would publish, for a form. On a terminal, lines of its refusal show them. */
export interface Preview {
  readonly author: string;
  /** Title, and body; null: the pull request that is updated keeps its own. */
  readonly title: string | null;
  readonly body: string | null;
  /** Lines about what was searched and found, and warnings. */
  readonly remarks: readonly string[];
  /** Why the push would be refused; null: it would not. */
  readonly refusal: string | null;
  /** The codes of its warnings, if it would wait for them. */
  readonly yes: readonly string[];
  /** All that judging has found. */
  readonly findings: readonly Finding[];
  readonly push: Publishable;
  /** The ids that its commits would have now, with their titles. */
  readonly commits: readonly { readonly oid: Oid; readonly title: string }[];
}

type More = Pick<Refusal, 'unpackStatus' | 'outcome' | 'waitMs' | 'preview' | 'cause' | 'needs' | 'also'>;

export class Refusal extends Error implements Finding {
  override readonly name = 'Refusal';
  readonly severity = 'refuse';
  readonly code: RefusalCode;
  /** A text for the status table, without line breaks: `push rejected: <reason>`. */
  readonly reason: string;
  /** Explanation and next step. */
  readonly lines: readonly string[];
  /** `ok`, or what is wrong with the pack. */
  readonly unpackStatus: string;
  /** The way in which the metrics count it; null: as refused or failed. */
  readonly outcome: SpecialOutcome | null;
  /** Milliseconds until a retry makes sense; null: nobody knows, or only the lines say it. */
  readonly waitMs: number | null;
  /** The preview that this is; null: it is none. */
  readonly preview: Preview | null;
  /**
   * Push options that answer it, such as `sign-off`, or `issue=<number>` for the person to fill in.
   */
  readonly needs: readonly string[];
  /** Other findings of judging. */
  readonly also: readonly Finding[];

  constructor(code: RefusalCode, reason: string, lines: readonly string[], more: Partial<More> = {}) {
    super(reason, { cause: more.cause });
    this.code = code;
    this.reason = reason;
    this.lines = lines;
    this.unpackStatus = more.unpackStatus ?? 'ok';
    this.outcome = more.outcome ?? SPECIAL_OUTCOMES.find((outcome) => outcome === code) ?? null;
    this.waitMs = more.waitMs ?? null;
    this.preview = more.preview ?? null;
    this.needs = more.needs ?? [];
    this.also = more.also ?? [];
  }

  /** The same refusal, with what else was found. */
  with(also: readonly Finding[]): Refusal {
    if (also.length === 0) return this;
    const { code, reason, lines, unpackStatus, outcome, waitMs, preview, cause, needs } = this;
    return new Refusal(code, reason, lines, { unpackStatus, outcome, waitMs, preview, cause, needs, also });
  }

  /** This refusal, and the others that were found. */
  get all(): readonly Refusal[] {
    return [this, ...this.also.filter((finding) => finding instanceof Refusal)];
  }

  get warnings(): readonly Finding[] {
    return this.also.filter(({ severity }) => severity === 'warn');
  }

  get paragraph(): readonly string[] {
    return this.lines.length === 0 ? [] : ['', ...this.lines, ''];
  }

  get finalLine(): string {
    return this.outcome === 'preview' ? this.reason : `push rejected: ${this.reason}`;
  }
}

/**
 * Refuses wrong options; the push is judged without them. Each needs to be corrected: without a
 * misspelt `preview`, the same would be published.
 */
export function refusedOptions(faults: readonly OptionFault[]): readonly Refusal[] {
  return faults.map(({ message, toFill }) => {
    return new Refusal('options', message, [], { needs: toFill === null ? [] : [toFill] });
  });
}

/** The steps of one push. A host that hangs cannot keep a push alive. */
export class HostSteps {
  readonly #clock: Clock;
  readonly #reply: Reply;
  readonly #hostName: string;
  #sharedLeftMs = SHARED_MS;

  constructor(clock: Clock, reply: Reply, hostName: string) {
    this.#clock = clock;
    this.#reply = reply;
    this.#hostName = hostName;
  }

  /**
   * Runs a step within its time, and says every ten seconds what it waits for.
   * @throws Refusal that names the step, which may have taken effect; HostError `busy`
   */
  async run<T>(step: HostStep, action: () => Promise<T>): Promise<T> {
    const [failure, waiting, limitMs, next] = STEPS[step];
    const startedAt = this.#clock.now();
    const done = new AbortController();
    const mostMs = limitMs === 'shared' ? this.#sharedLeftMs : (limitMs ?? Infinity);
    try {
      return await Promise.race([action(), this.#patience(waiting, mostMs, done.signal)]);
    } catch (error) {
      // If the service is busy, no step is to blame.
      if (!(error instanceof HostError) || error.code === 'busy') throw error;
      const isFinal: boolean = isRefusedByHost(error);
      throw new Refusal(step, failure, [error.publicMessage, ...(isFinal ? [] : [next])], { cause: error });
    } finally {
      done.abort();
      if (limitMs === 'shared') this.#sharedLeftMs -= this.#clock.now() - startedAt;
    }
  }

  /** Rejects when the time is up; never resolves. */
  async #patience(waiting: string, mostMs: number, done: AbortSignal): Promise<never> {
    for (let leftMs = mostMs; leftMs > 0; leftMs -= LINE_INTERVAL_MS) {
      await this.#clock.sleep(Math.min(LINE_INTERVAL_MS, leftMs), done);
      if (done.aborted) return new Promise<never>(() => {});
      if (leftMs > LINE_INTERVAL_MS)
        await this.#reply.step(`Still waiting for ${this.#hostName} ${waiting} ...`);
    }
    throw new HostError('unreachable', `${this.#hostName} did not answer in time.`);
  }
}

/** Whether the host does not accept a push now, but may accept it later. */
export function isMomentary({ code, cause }: Refusal): boolean {
  return code === 'account' || (cause instanceof HostError && cause.failure.lasts !== 'final');
}

const TOO_LARGE = 'the push is too large';
const NOT_ARRIVED = 'the push did not arrive completely';
const OF_BODY: Readonly<Record<BodyError['code'], readonly [reason: string, ...lines: readonly string[]]>> = {
  timeout: [
    NOT_ARRIVED,
    'Your data arrived too slowly: it stopped, was less than 1 KiB a second, or less than 8 KiB a second for 5 minutes.',
    'Push again. If that fails, too, push fewer commits at once or use a faster connection.',
  ],
  aborted: [NOT_ARRIVED, 'The connection broke. Push again.'],
  damaged: [
    'the push arrived damaged',
    'Its gzip compression is broken. Push again, or push with another Git client.',
  ],
  bomb: [
    'the push is compressed too much',
    'A push may inflate to 4 times what is sent, plus 1 MiB. Push again without gzip.',
    'In Eclipse and other programs with JGit, first run: git config http.postBuffer 65536',
  ],
  // Answered with HTTP 413 instead.
  'too-large': [TOO_LARGE],
};

const BAD_PACK = ['bad-pack', 'the pack is invalid', 'invalid pack'] as const;
const OF_PROTOCOL: Readonly<
  Record<ProtocolErrorCode, readonly [code: RefusalCode, reason: string, unpackStatus: string]>
> = {
  'too-large': ['too-large', TOO_LARGE, 'ok'],
  'bad-request': ['bad-request', 'the request is malformed', 'malformed request'],
  'not-rewritable': ['not-rewritable', 'the commits cannot be made anonymous', 'ok'],
  'bad-pack': BAD_PACK,
  'truncated-pack': BAD_PACK,
  unsupported: BAD_PACK,
};

/**
 * The message for any failure.
 * @param client the person's Git client: the advice must work for it.
 */
export function toRefusal(error: unknown, client: GitClient): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ProtocolError) {
    const [code, reason, unpackStatus] = OF_PROTOCOL[error.code];
    const remedy =
      client === 'git'
        ? 'Push with: git -c pack.useBitmaps=false push ...'
        : 'Push fewer commits at once, or push with the git command.';
    const lines = [...error.publicMessage.split('\n'), ...(code === 'not-rewritable' ? [remedy] : [])];
    return new Refusal(code, reason, lines, { unpackStatus });
  }
  if (error instanceof BodyError) {
    const [reason, ...lines] = OF_BODY[error.code];
    return new Refusal('incomplete', reason, lines, { unpackStatus: 'incomplete pack' });
  }
  if (isStorageFailure(error)) return cannotWrite(error, GOES_ON);
  if (error instanceof HostError && error.code === 'busy') {
    const lines = ['It has no room for this push now. Push again in a minute.'];
    return new Refusal('busy', 'the service is busy', lines, { cause: error });
  }
  const lines = ['This is a fault of the service, and it was logged. Push again later.'];
  return new Refusal('internal', 'internal error', lines, { cause: error });
}

/** @param error that of the object which could not store something. */
export function cannotWrite(error: unknown, ...lines: readonly string[]): Refusal {
  return new Refusal('unguarded', 'the service cannot write at the moment', lines, { cause: error });
}

/**
 * Says in one word how a push has ended, for the metrics. `refused`: by a rule. `failed`: because
 * of a fault.
 */
export function pushOutcome(refusal: Refusal | null): SpecialOutcome | 'accepted' | 'refused' | 'failed' {
  if (refusal === null) return 'accepted';
  const { outcome, cause } = refusal;
  if (outcome !== null) return outcome;
  return cause === undefined || hostFailureOf(cause).whose === 'person' ? 'refused' : 'failed';
}
