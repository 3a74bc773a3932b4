/** The fields of a form as browsers send it (URL Standard, application/x-www-form-urlencoded). Pure. */

export type FormFields = ReadonlyMap<string, string>;

/** More than any form has. Each field costs memory, and a body has room for millions of empty ones. */
const MAX_FIELDS = 32;

/**
 * The first value of each field; null if the text is no such form, has more fields than any, or is not UTF-8. Cost: the
 * text once more.
 */
export function parseFormFields(text: string): FormFields | null {
  const fields = new Map<string, string>();
  const pairs = text.split('&', MAX_FIELDS + 1);
  if (pairs.length > MAX_FIELDS) return null;
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals < 1) {
      if (pair === '') continue;
      return null;
    }
    const name = decoded(pair.slice(0, equals));
    const value = decoded(pair.slice(equals + 1));
    if (name === null || value === null) return null;
    if (!fields.has(name)) fields.set(name, value);
  }
  return fields;
}

/** Unlike URLSearchParams, this does not replace what is not UTF-8. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** Browsers send every line end of a text field as CR LF. */
export function withPlainLineEnds(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}
