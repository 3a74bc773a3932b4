/**
 * Makes a sentence of the words that JSON endpoints use for an error, which have neither a capital
 * nor a full stop.
 * Proved by test/routes/threads/issues.test.ts.
 */
export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
