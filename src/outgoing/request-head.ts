/**
 * The head of an HTTP/1.1 request, byte for byte (RFC 9112, section 3; RFC 9110, section 5).
 *
 * The header fields of every request come from one list, in its order and spelling. A field that is not on the list is
 * an error, so nothing of a client's request can reach a server by mistake.
 */

/** What callers may set, as it is written. `Host`, `Accept-Encoding` and the length of the body are set here. */
const ALLOWED_FIELDS = [
  'User-Agent',
  'Accept',
  'Authorization',
  // The hosted database's public key.
  'apikey',
  'Git-Protocol',
  'X-GitHub-Api-Version',
  'If-Modified-Since',
  'Content-Encoding',
  'Content-Type',
] as const;

const KNOWN_NAMES: ReadonlySet<string> = new Set(ALLOWED_FIELDS.map((name) => name.toLowerCase()));
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** No control characters, and no space at either end, where it would be lost. */
const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;
const REQUEST_TARGET = /^\/[\x21-\x7e]*$/;

export interface RequestHead {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** Null: there is none. `chunked`: its length is not known. */
  readonly bodyLength: number | 'chunked' | null;
}

/** @throws TypeError for what may not leave: an error of our own, never of a server's or a client's. */
export function encodeRequestHead({ method, url, headers, bodyLength }: RequestHead): Uint8Array {
  if (!METHODS.has(method)) throw new TypeError('this method is not allowed');
  checkFields(headers);
  const target = `${url.pathname}${url.search}`;
  if (!REQUEST_TARGET.test(target)) throw new TypeError('the address cannot be asked for');
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${url.host}`];
  for (const name of ALLOWED_FIELDS) {
    const value = headers.get(name);
    if (value !== null) lines.push(`${name}: ${value}`);
  }
  lines.push('Accept-Encoding: gzip');
  if (bodyLength === 'chunked') lines.push('Transfer-Encoding: chunked');
  else if (bodyLength !== null) lines.push(`Content-Length: ${bodyLength}`);
  return new TextEncoder().encode(`${lines.join('\r\n')}\r\n\r\n`);
}

/** @throws TypeError */
export function checkFields(headers: Headers): void {
  for (const [name, value] of headers) {
    if (!KNOWN_NAMES.has(name)) throw new TypeError(`the header field ${name} may not leave`);
    if (!FIELD_VALUE.test(value)) throw new TypeError(`the value of the header field ${name} may not leave`);
  }
}
