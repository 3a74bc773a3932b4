/**
 * One call of the REST interface: its account, its parameters, its body, and the forms of its
 * answers. Error bodies are GitHub's: a message, the address of the documentation, the status as a
 * string, and for a 422 the list of what is wrong.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { InstallationToken } from '../apps.ts';
import type { Host } from '../host.ts';
import { type KnownAnswer, NOT_FOUND, VALIDATION_FAILED } from '../known-answers.ts';
import type { User } from '../records.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** The account that makes a call, and how an App has proved that it is the caller. */
export interface Caller {
  /** Account that the token belongs to; `null` for an anonymous call, and for the App itself. */
  readonly viewer: User | null;
  /** `app`: the App by its key. `null`: the caller is no App. */
  readonly credential: 'app' | InstallationToken | null;
}

export interface ApiCall extends Caller {
  readonly host: Host;
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly params: Readonly<Record<string, string>>;
  /** Object that was sent as JSON; empty if nothing was sent. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A field that GitHub would refuse, as a 422 lists it. */
export interface FieldError {
  readonly resource: string;
  readonly code: 'missing_field' | 'invalid' | 'unprocessable' | 'custom';
  readonly field?: string;
  readonly message?: string;
}

/** Thrown to refuse the call. The router turns it into the answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string | undefined;

  constructor(
    status: number,
    message: string,
    more: { errors?: readonly FieldError[]; headers?: Readonly<Record<string, string>>; url?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = more.errors;
    this.headers = more.headers ?? {};
    this.url = more.url;
  }
}

/** Refuses with the status and the words of a known answer. */
export function refusedAs({ status, body }: KnownAnswer): Refusal {
  return new Refusal(status, (body as { readonly message: string }).message);
}

export function notFound(): Refusal {
  return refusedAs(NOT_FOUND);
}

export function validationFailed(...errors: FieldError[]): Refusal {
  return new Refusal(422, VALIDATION_FAILED, { errors });
}

/** An answer with a JSON body. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  };
}

/** An answer without a body. */
export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: '' };
}

/** Answers the account that calls. Refuses an anonymous call. */
export function requireViewer(call: ApiCall): User {
  if (!call.viewer) throw new Refusal(401, 'Requires authentication');
  return call.viewer;
}

/** Reads a path parameter that is a number. Anything else names nothing. */
export function numberParam(call: ApiCall, name: string): number {
  const text = call.params[name] ?? '';
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound();
  return Number(text);
}

/** Answers with one page of a list, and with a Link header that leads to the others. */
export function page<Item>(call: ApiCall, items: readonly Item[], render: (item: Item) => unknown): Answer {
  const query = call.url.searchParams;
  const perPage = clamp(Number(query.get('per_page') ?? 30), 1, 100, 30);
  const number = clamp(Number(query.get('page') ?? 1), 1, Number.MAX_SAFE_INTEGER, 1);
  const lastNumber = Math.max(1, Math.ceil(items.length / perPage));
  const links: string[] = [];
  const link = (to: number, rel: string) => {
    const target = new URL(call.url);
    target.searchParams.set('page', String(to));
    links.push(`<${target.href}>; rel="${rel}"`);
  };
  if (number > 1) link(Math.min(number - 1, lastNumber), 'prev');
  if (number < lastNumber) {
    link(number + 1, 'next');
    link(lastNumber, 'last');
  }
  if (number > 1) link(1, 'first');
  const shown = items.slice((number - 1) * perPage, number * perPage);
  return json(
    200,
    shown.map((item) => render(item)),
    links.length > 0 ? { link: links.join(', ') } : {},
  );
}

function clamp(value: number, least: number, most: number, otherwise: number): number {
  return Number.isInteger(value) ? Math.min(Math.max(value, least), most) : otherwise;
}
