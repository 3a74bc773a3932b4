/**
 * Why a push failed, as the person sees it. The one place where errors become text.
 *
 * As in Git's own receive-pack, the status table gets a short reason, and the lines above it explain it and say what to
 * do. Only the public messages of the two error classes are shown, never a cause.
 */
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import type { GitClient } from '../../git/wire/git-client.ts';
import { HostError } from '../../host-error.ts';
import { BodyError } from '../../streams/body.ts';

/** A step that needs the host: see host-steps.ts. */
export type HostStep =
  'lookup' | 'history' | 'fork' | 'sync' | 'push' | 'pull-request' | 'edit' | 'withdrawal';

/** What a program needs to tell apart: the host has failed at a step, the account may not go on now, or the same push is under way. */
export type RefusalCode = HostStep | 'account' | 'in-progress' | 'overtaken' | 'other';

export type SpecialOutcome = 'suspended' | 'rate-limited' | 'preview';

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
    reason: string,
    lines: readonly string[],
    options: {
      unpackStatus?: string;
      outcome?: SpecialOutcome;
      waitMs?: number;
      preview?: Preview;
      code?: RefusalCode;
      cause?: unknown;
    } = {},
  ) {
    super(reason, { cause: options.cause });
    this.reason = reason;
    this.lines = lines;
    this.unpackStatus = options.unpackStatus ?? 'ok';
    this.code = options.code ?? 'other';
    this.outcome = options.outcome ?? null;
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
  return new Refusal('preview: nothing was published', preview.lines, { outcome: 'preview', preview });
}

const BODY_REFUSALS: Record<BodyError['code'], { reason: string; lines: readonly string[] }> = {
  timeout: {
    reason: 'the push did not arrive completely',
    lines: [
      'Your data came too slowly: it stopped, was less than 1 KiB a second, or less than 8 KiB a second for 5 minutes.',
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

/** The message for any failure. @param client the person's Git client: the advice must work for it. */
export function toRefusal(error: unknown, client: GitClient): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ProtocolError) {
    if (error.code === 'not-rewritable') {
      const remedy =
        client === 'git'
          ? 'Push with: git -c pack.useBitmaps=false push ...'
          : 'Push fewer commits at once, or push with the git command.';
      return new Refusal('the commits cannot be made anonymous', [error.publicMessage, remedy]);
    }
    if (error.code === 'too-large') return new Refusal('the push is too large', [error.publicMessage]);
    if (error.code === 'bad-request') {
      return new Refusal('the request is malformed', [error.publicMessage], {
        unpackStatus: 'malformed request',
      });
    }
    return new Refusal('the pack is invalid', [error.publicMessage], { unpackStatus: 'invalid pack' });
  }
  if (error instanceof BodyError) {
    const { reason, lines } = BODY_REFUSALS[error.code];
    return new Refusal(reason, lines, { unpackStatus: 'incomplete pack' });
  }
  if (error instanceof HostError && error.code === 'busy') {
    const lines = ['It has no room for this push now. Push again in a minute.'];
    return new Refusal('the service is busy', lines, { cause: error });
  }
  return new Refusal(
    'internal error',
    ['This is a fault of the service, and it was logged. Push again later.'],
    {
      cause: error,
    },
  );
}
