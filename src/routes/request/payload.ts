/** The texts in payloads that people send for publication, and the messages for invalid payloads. */
import * as z from 'zod';

/** A string that the host can store unchanged. @param field its name, for the message. */
export function publicText(field: string) {
  return z
    .string()
    .refine((text) => !text.includes('\0'), { error: `${field} must not contain NUL characters` })
    .refine((text) => text.isWellFormed(), {
      error: `${field} must be valid Unicode: it holds half a character`,
    });
}

/** The message for an invalid payload: the contract's words if its shape is wrong, otherwise the rule. */
export function payloadProblem({ issues }: z.ZodError): string {
  const hasWrongShape = issues.some(({ code }) => code === 'invalid_type');
  return hasWrongShape ? 'invalid payload' : (issues[0]?.message ?? 'invalid payload');
}

/** Absent, null, or nothing but white space. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
