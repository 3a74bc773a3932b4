/**
 * Persons who speak through the service: comments, issues and reports as their own HTTP client
 * sends them.
 */
import type { Person } from './person.ts';
import type { TestBed } from './test-bed.ts';

export interface Answer {
  readonly status: number;
  /** The code of an error; null: it is none. */
  readonly code: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A POST with everything in its headers that tells of the person. */
export async function speak(
  bed: TestBed,
  person: Person,
  path: string,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${bed.service.url}${path}`, {
    method: 'POST',
    headers: {
      ...person.headers,
      'User-Agent': person.userAgent,
      'Content-Type': 'application/json',
      Accept: 'application/json',
      ...headers,
    },
    body: JSON.stringify(payload),
  });
  return {
    status: response.status,
    code: response.headers.get('X-Error-Code'),
    body: await response.json<Record<string, unknown>>(),
  };
}

export function comment(
  bed: TestBed,
  person: Person,
  thread: string,
  body: string,
  userToken?: unknown,
): Promise<Answer> {
  return speak(bed, person, `/v1/gh/${thread}/comments/anonymous`, { body, user_token: userToken });
}

export function report(
  bed: TestBed,
  person: Person,
  hash: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return speak(bed, person, '/v1/moderation/report', { hash }, headers);
}

/** The texts of a thread's comments on the host, oldest first. */
export async function commentsOn(bed: TestBed, thread: string): Promise<string[]> {
  const comments = await bed.host.call<{ body: string }[]>('GET', `/repos/${thread}/comments?per_page=100`);
  return comments.map(({ body }) => body);
}
