/**
 * Words with which the REST interface refuses, for `failure.ts` and for people.
 * Proved by test/host/rest/rest.test.ts.
 */
import { hostText } from '../../words/host-text.ts';
import type { RefusedCall } from '../failure.ts';

/** Maximum length that is read of a refusal that is not JSON. */
const MAX_RAW_CHARACTERS = 4 * 1024;

/** Parses JSON, or returns undefined if it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads what a refusal says: for `failure.ts`, and, as `says`, for people, with its message and the
 * first of its details.
 */
export function refusalWords(
  body: unknown,
  raw: string,
): Pick<RefusedCall, 'text' | 'codes'> & { says: string } {
  const { message, errors, documentation_url: explanation } = (body ?? {}) as Record<string, unknown>;
  // For each of the `errors` of a 422, GitHub sends a text, an object with a message, or only
  // `field` and `code`.
  const details = (Array.isArray(errors) ? errors : []).map((error: unknown) => {
    const { message: words = error, field, code } = (error ?? {}) as Record<string, unknown>;
    return { words: isText(words) ? words : [field, code].filter(isText).join(' '), code };
  });
  const sentences = [message, ...details.map(({ words }) => words), explanation].filter(isText).join(' ');
  const detail = details.find(({ words }) => words !== '')?.words;
  return {
    text: typeof body === 'object' ? sentences : raw.slice(0, MAX_RAW_CHARACTERS),
    codes: details.map(({ code }) => code).filter(isText),
    says: hostText([message, detail].filter(isText).join(': ')),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
