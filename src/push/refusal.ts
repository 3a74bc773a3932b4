/**
 * Why a push failed, as the person sees it. The one place where errors become text.
 *
 * As Git's own receive-pack does it: the status table gets a short reason, the lines above it the explanation and the
 * next step. Nothing of a cause gets here: only the public messages of the two error classes.
 */
import { ProtocolError } from '../git/protocol-error.ts';
import { HostError } from '../host/host-error.ts';
import { BodyError } from '../streams.ts';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** For the status table, without line breaks: `push rejected: <reason>`. */
  readonly reason: string;
  /** Explanation and next step. */
  readonly lines: readonly string[];
  /** `ok`, or what is wrong with the pack. */
  readonly unpackStatus: string;
  /** Of a push that was not let in: why, as it is counted. */
  readonly outcome: 'suspended' | 'rate-limited' | null;

  constructor(
    reason: string,
    lines: readonly string[],
    options: { unpackStatus?: string; outcome?: 'suspended' | 'rate-limited'; cause?: unknown } = {},
  ) {
    super(reason, { cause: options.cause });
    this.reason = reason;
    this.lines = lines;
    this.unpackStatus = options.unpackStatus ?? 'ok';
    this.outcome = options.outcome ?? null;
  }

  /** The lines as they are shown: set apart from what was said before. */
  get paragraph(): readonly string[] {
    return this.lines.length === 0 ? [] : ['', ...this.lines, ''];
  }

  get finalLine(): string {
    return `push rejected: ${this.reason}`;
  }
}

/** The steps of a push in which the host takes part, as their failures name them. */
export const HOST_STEPS = {
  lookup: 'the repository could not be looked up',
  history: 'the history of the repository could not be read',
  fork: 'the fork could not be made',
  sync: 'the fork could not be brought up to date',
  push: 'the commits could not be sent to the fork',
  'pull-request': 'the pull request could not be opened',
  withdrawal: 'the pull request could not be withdrawn completely',
} as const;
export type HostStep = keyof typeof HOST_STEPS;

/** Runs one step; a failure of the host becomes a refusal that names the step. */
export async function hostStep<T>(step: HostStep, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const next =
      error.code === 'refused' || error.code === 'missing' ? [] : ['Nothing was changed. Push again later.'];
    throw new Refusal(HOST_STEPS[step], [error.publicMessage, ...next], { cause: error });
  }
}

/** What any failure says to the person. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ProtocolError) {
    if (error.code === 'not-rewritable')
      return new Refusal('the commits cannot be made anonymous', [error.publicMessage]);
    if (error.code === 'too-large') return new Refusal('the push is too large', [error.publicMessage]);
    return new Refusal('the pack is invalid', [error.publicMessage], { unpackStatus: 'invalid pack' });
  }
  if (error instanceof BodyError) {
    const line = error.code === 'timeout' ? 'Your bytes came too slowly.' : 'The connection broke off.';
    return new Refusal('the push did not arrive completely', [`${line} Push again.`], {
      unpackStatus: 'incomplete pack',
    });
  }
  return new Refusal('internal error', ['This is our fault, and it was logged. Push again later.'], {
    cause: error,
  });
}
