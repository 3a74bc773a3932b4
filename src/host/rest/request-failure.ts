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

/** One of the `errors` of a 422. */
export interface RefusalDetail {
  readonly message: string | null;
  readonly field: string | null;
  readonly code: string | null;
}

/** GitHub sends texts, objects with a message, and objects with `field` and `code` alone. */
export function refusalDetails({ response }: RequestFailure): readonly RefusalDetail[] {
  const errors = (response?.data as { errors?: unknown } | null | undefined)?.errors;
  if (!Array.isArray(errors)) return [];
  return errors.map((error: unknown) => {
    const { message, field, code } = (error ?? {}) as Record<string, unknown>;
    return { message: textOf(error) ?? textOf(message), field: textOf(field), code: textOf(code) };
  });
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** What Octokit has read of an answer that is no success. */
export function answerOf(failure: RequestFailure, operation: Operation): RefusedCall {
  const { status, response } = failure;
  const details = refusalDetails(failure);
  return {
    operation,
    status,
    header: (name) => response?.headers[name]?.toString() ?? null,
    text: textOf(response?.data) ?? sentencesOf(response?.data, details),
    codes: details.flatMap(({ code }) => code ?? []),
  };
}

function sentencesOf(data: unknown, details: readonly RefusalDetail[]): string {
  const { message, documentation_url: explanation } = (data ?? {}) as Record<string, unknown>;
  return [message, ...details.map(wordsOf), explanation].filter(textOf).join(' ');
}

/** The sentence in which the host explains itself: its message and the first of its details. May be empty. */
export function refusalText(failure: RequestFailure): string {
  const message = (failure.response?.data as { message?: unknown } | null | undefined)?.message;
  const detail = refusalDetails(failure)
    .map(wordsOf)
    .find((text) => text !== '');
  return hostText([message, detail].filter((text) => typeof text === 'string').join(': '));
}

function wordsOf({ message, field, code }: RefusalDetail): string {
  return message ?? [field, code].filter((word) => word !== null).join(' ');
}
