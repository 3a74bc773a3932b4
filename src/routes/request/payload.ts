/** The texts in payloads that people send for publication, and the messages for invalid payloads. */
import * as z from 'zod';
import { INVALID_PAYLOAD } from './json-body.ts';
import { invalidField, type Refused } from './refused.ts';

/** A string that the host can store unchanged. @param field its name, for the message. */
export function publicText(field: string) {
  return z
    .string()
    .refine((text) => !text.includes('\0'), { error: `${field} must not contain NUL characters` })
    .refine((text) => text.isWellFormed(), {
      error: `${field} must be valid Unicode: it holds half a character`,
    });
}

const TYPES: Readonly<Record<string, string>> = { string: 'text', array: 'a list', boolean: 'true or false' };

/** Names the field that breaks a rule: `body must be text`, `labels[1] must be text`, `thread is required`. */
export function payloadRefused({ issues }: z.ZodError, payload: unknown): Refused {
  const [issue] = issues;
  if (issue === undefined) return INVALID_PAYLOAD;
  const name = issue.path.reduce<string>(
    (above, part) =>
      typeof part === 'number'
        ? `${above}[${part}]`
        : above === ''
          ? String(part)
          : `${above}.${String(part)}`,
    '',
  );
  if (issue.code !== 'invalid_type' && issue.code !== 'invalid_value') return invalidField(issue.message);
  const isMissing = issue.path.length === 1 && !Object.hasOwn(Object(payload), issue.path[0] as string);
  if (isMissing) return invalidField(`${name} is required`);
  if (issue.code === 'invalid_value')
    return invalidField(`${name} must be one of ${issue.values.join(', ')}`);
  return invalidField(`${name} must be ${TYPES[issue.expected] ?? `of the type ${issue.expected}`}`);
}

/** Absent, null, or nothing but white space. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
