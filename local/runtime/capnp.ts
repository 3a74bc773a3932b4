/**
 * Writes values in Cap'n Proto's text form, in which workerd reads its configuration: `(name = "x",
 * modules = [ … ])`.
 *
 * Language reference: "Cap'n Proto: Schema Language", sections on constants and on `embed`.
 */

/**
 * Stands for the content of a file. The path is relative to the configuration, or absolute within
 * the import path.
 */
export class Embed {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** Values that can be written. An entry that is undefined is left out. */
export type CapnpValue =
  string | boolean | Embed | readonly CapnpValue[] | { readonly [name: string]: CapnpValue | undefined };

export function capnp(value: CapnpValue): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Embed) return `embed ${quoted(value.path)}`;
  if (isList(value)) return `[${value.map(capnp).join(', ')}]`;
  const fields = Object.entries(value).flatMap(([name, field]) =>
    field === undefined ? [] : [`${name} = ${capnp(field)}`],
  );
  return `(${fields.join(', ')})`;
}

const isList = (value: CapnpValue): value is readonly CapnpValue[] => Array.isArray(value);

/** Quotes a text byte by byte, and escapes everything but printable ASCII. */
function quoted(text: string): string {
  const bytes = Buffer.from(text).toString('latin1');
  const escaped = bytes.replace(
    /[^ -~]|["\\]/g,
    (byte: string) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `"${escaped}"`;
}
