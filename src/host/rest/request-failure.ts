/** Octokit's errors, as far as they are read here: how the host refused a call of its REST interface. */
import { HostError } from '../../host-error.ts';
import { hostText } from '../../host-text.ts';
import type { Operation, RefusedCall } from '../failure.ts';

export interface RequestFailure extends Error {
  /** 500 stands for no answer at all, too. */
  readonly status: number;
  /** Undefined: no answer. */
  readonly response?: {
    readonly headers: Readonly<Record<string, string | number | undefined>>;
    readonly data?: unknown;
  };
}

export function isRequestFailure(error: unknown): error is RequestFailure {
  return error instanceof Error && 'status' in error && typeof error.status === 'number';
}

/** The status that the host failed with, by REST or by Git; undefined if it did not answer. */
export function failureStatus(error: unknown): number | undefined {
  if (error instanceof HostError) return error.failure.status ?? undefined;
  return isRequestFailure(error) && error.response !== undefined ? error.status : undefined;
}

/** Of each of the `errors` of a 422: GitHub sends texts, objects with a message, and objects with `field` and `code` alone. */
function detailsOf({
  response,
}: RequestFailure): readonly { readonly words: string; readonly code: unknown }[] {
  const errors = (response?.data as { errors?: unknown } | null | undefined)?.errors;
  if (!Array.isArray(errors)) return [];
  return errors.map((error: unknown) => {
    const { message = error, field, code } = (error ?? {}) as Record<string, unknown>;
    return { words: isText(message) ? message : [field, code].filter(isText).join(' '), code };
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** What Octokit has read of an answer that is no success. */
export function answerOf(failure: RequestFailure, operation: Operation): RefusedCall {
  const { status, response } = failure;
  const details = detailsOf(failure);
  const { message, documentation_url: explanation } = (response?.data ?? {}) as Record<string, unknown>;
  const sentences = [message, ...details.map(({ words }) => words), explanation].filter(isText).join(' ');
  return {
    operation,
    status,
    header: (name) => response?.headers[name]?.toString() ?? null,
    text: isText(response?.data) ? response.data : sentences,
    codes: details.map(({ code }) => code).filter(isText),
  };
}

/** The sentence in which the host explains itself: its message and the first of its details. May be empty. */
export function refusalText(failure: RequestFailure): string {
  const message = (failure.response?.data as { message?: unknown } | null | undefined)?.message;
  const detail = detailsOf(failure).find(({ words }) => words !== '');
  return hostText([message, detail?.words].filter(isText).join(': '));
}
