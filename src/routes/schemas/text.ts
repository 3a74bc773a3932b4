/** Texts that people send to be published, and what is wrong with a payload, in words. */
import * as z from 'zod';

/** A string that the host can keep as it is. @param field its name, for the message. */
export function publicText(field: string) {
  return z
    .string()
    .refine((text) => !text.includes('\0'), { error: `${field} must not contain NUL characters` })
    .refine((text) => text.isWellFormed(), {
      error: `${field} must be valid Unicode: it holds half a character`,
    });
}

/** What a payload that does not parse is answered with: the contract's words for a wrong shape, else the rule. */
export function payloadProblem({ issues }: z.ZodError): string {
  const hasWrongShape = issues.some(({ code }) => code === 'invalid_type');
  return hasWrongShape ? 'invalid payload' : (issues[0]?.message ?? 'invalid payload');
}

/** Absent, null, or nothing but white space. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
