/**
 * Why a push failed, as the person sees it. The one place where errors become text.
 *
 * As in Git's own receive-pack, the status table gets a short reason, and the lines above it explain it and say what to
 * do. Only the public messages of the two error classes are shown, never a cause.
 */
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import type { GitClient } from '../../git/wire/git-client.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';
import { BodyError } from '../../streams/body-error.ts';

/** A step that needs the host: see host-steps.ts. */
export type HostStep =
  'lookup' | 'history' | 'fork' | 'sync' | 'push' | 'offer' | 'pull-request' | 'edit' | 'withdrawal';

const SPECIAL_OUTCOMES = ['suspended', 'rate-limited', 'preview'] as const;
export type SpecialOutcome = (typeof SPECIAL_OUTCOMES)[number];

/** Why, for programs and for the log. Nothing in it comes from the person. */
export type RefusalCode =
  | HostStep
  | SpecialOutcome
  // The bot account may not go on now.
  | 'account'
  // The same push, or another to the same pull request, is under way, or came first.
  | 'in-progress'
  | 'overtaken'
  // Another pull request has the commits.
  | 'double'
  // Somebody else has pushed to the branch.
  | 'others-work'
  // What was sent.
  | 'bad-request'
  | 'bad-pack'
  // As Git's own check would say at the host.
  | 'fsck'
  | 'incomplete'
  | 'too-large'
  | 'not-rewritable'
  | 'options'
  | 'pr-hash'
  | 'pr-key'
  // The repository.
  | 'missing'
  | 'archived'
  | 'empty'
  | 'repository-size'
  | 'policy'
  | 'policy-unread'
  // The work.
  | 'base'
  | 'fetch-first'
  | 'names'
  | 'noise'
  | 'not-open'
  | 'nothing-new'
  | 'one-branch'
  | 'sign-off'
  | 'squash'
  // What the repository wants to be told.
  | 'stated'
  | 'workflows'
  // The service.
  | 'busy'
  | 'delay'
  | 'delays-full'
  | 'internal'
  | 'unguarded';

/** What a push would publish. */
export interface Preview {
  /** All of it, for a terminal. */
  readonly lines: readonly string[];
  readonly author: string;
  readonly title: string;
  readonly body: string;
  /** What was searched and found, and warnings. */
  readonly remarks: readonly string[];
  /** Why the push would be refused; null: it would not. */
  readonly refusal: string | null;
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** For the status table, without line breaks: `push rejected: <reason>`. */
  readonly reason: string;
  /** Explanation and next step. */
  readonly lines: readonly string[];
  /** `ok`, or what is wrong with the pack. */
  readonly unpackStatus: string;
  readonly code: RefusalCode;
  /** How a push is counted that was not accepted, or was a preview. */
  readonly outcome: SpecialOutcome | null;
  /** For a client that reads it from a header; null: it is not known, or only in the lines. */
  readonly waitMs: number | null;
  /** What a preview shows; null: this is none. */
  readonly preview: Preview | null;

  constructor(
    code: RefusalCode,
    reason: string,
    lines: readonly string[],
    options: {
      unpackStatus?: string;
      outcome?: SpecialOutcome;
      waitMs?: number;
      preview?: Preview;
      cause?: unknown;
    } = {},
  ) {
    super(reason, { cause: options.cause });
    this.reason = reason;
    this.lines = lines;
    this.unpackStatus = options.unpackStatus ?? 'ok';
    this.code = code;
    this.outcome = options.outcome ?? SPECIAL_OUTCOMES.find((outcome) => outcome === code) ?? null;
    this.waitMs = options.waitMs ?? null;
    this.preview = options.preview ?? null;
  }

  /** The lines, with blank lines around them. */
  get paragraph(): readonly string[] {
    return this.lines.length === 0 ? [] : ['', ...this.lines, ''];
  }

  get finalLine(): string {
    return this.outcome === 'preview' ? this.reason : `push rejected: ${this.reason}`;
  }
}

/** The end of a preview. */
export function previewed(preview: Preview): Refusal {
  return new Refusal('preview', 'preview: nothing was published', preview.lines, { preview });
}

const BODY_REFUSALS: Record<BodyError['code'], { reason: string; lines: readonly string[] }> = {
  timeout: {
    reason: 'the push did not arrive completely',
    lines: [
      'Your data arrived too slowly: it stopped, was less than 1 KiB a second, or less than 8 KiB a second for 5 minutes.',
      'Push again. If that fails, too, push fewer commits at once or use a faster connection.',
    ],
  },
  aborted: {
    reason: 'the push did not arrive completely',
    lines: ['The connection broke. Push again.'],
  },
  damaged: {
    reason: 'the push arrived damaged',
    lines: ['Its gzip compression is broken. Push again, or push with another Git client.'],
  },
  // Answered with HTTP 413 instead.
  'too-large': { reason: 'the push is too large', lines: [] },
};

/** Whether the host does not accept a push now, but may accept it later. */
export function isMomentary({ code, cause }: Refusal): boolean {
  if (code === 'account') return true;
  return cause instanceof HostError && cause.failure.lasts !== 'final';
}

/** The message for any failure. @param client the person's Git client: the advice must work for it. */
export function toRefusal(error: unknown, client: GitClient): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ProtocolError) return ofProtocol(error, client);
  if (error instanceof BodyError) {
    const { reason, lines } = BODY_REFUSALS[error.code];
    return new Refusal('incomplete', reason, lines, { unpackStatus: 'incomplete pack' });
  }
  if (error instanceof HostError && error.code === 'busy') {
    const lines = ['It has no room for this push now. Push again in a minute.'];
    return new Refusal('busy', 'the service is busy', lines, { cause: error });
  }
  const lines = ['This is a fault of the service, and it was logged. Push again later.'];
  return new Refusal('internal', 'internal error', lines, { cause: error });
}

function ofProtocol({ code, publicMessage }: ProtocolError, client: GitClient): Refusal {
  const lines = [publicMessage];
  switch (code) {
    case 'too-large':
      return new Refusal(code, 'the push is too large', lines);
    case 'bad-request':
      return new Refusal(code, 'the request is malformed', lines, { unpackStatus: 'malformed request' });
    case 'not-rewritable':
      lines.push(
        client === 'git'
          ? 'Push with: git -c pack.useBitmaps=false push ...'
          : 'Push fewer commits at once, or push with the git command.',
      );
      return new Refusal(code, 'the commits cannot be made anonymous', lines);
    case 'bad-pack':
    case 'truncated-pack':
    case 'unsupported':
      return new Refusal('bad-pack', 'the pack is invalid', lines, { unpackStatus: 'invalid pack' });
  }
}

/** In one word, for the metrics. `refused`: by a rule of the service or the host, so retrying will not help. `failed`: because of a fault. */
export type PushOutcome = SpecialOutcome | 'accepted' | 'refused' | 'failed';

/** @param refusal null: the push was accepted. */
export function pushOutcome(refusal: Refusal | null): PushOutcome {
  if (refusal === null) return 'accepted';
  const { outcome, cause } = refusal;
  if (outcome !== null) return outcome;
  if (cause === undefined) return 'refused';
  return hostFailureOf(cause).whose === 'person' ? 'refused' : 'failed';
}
