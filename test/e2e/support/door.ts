/** Posts to the doors beside Git's protocol, as curl would. */
import type { GitRun, Person } from './person.ts';
import type { TestBed } from './test-bed.ts';
import type { Upstream } from './upstream.ts';

export interface DoorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The answer in the form that Git gives to what a push is told. */
  readonly pushed: GitRun;
}

/**
 * @param options of the address, such as `preview&base=next`.
 * @param headers besides those of the person.
 */
export async function postTo(
  bed: Pick<TestBed, 'service'>,
  person: Person,
  { owner, name }: Pick<Upstream, 'owner' | 'name'>,
  door: 'bundle' | 'patch',
  body: string | Uint8Array,
  options = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<DoorAnswer> {
  const url = `${bed.service.url}/v1/gh/${owner}/${name}/${door}${options === '' ? '' : `?${options}`}`;
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: { ...person.headers, ...form, ...headers },
  });
  const text = await answer.text();
  const stderr = text.replaceAll(/^/gm, 'remote: ');
  const pushed = { code: answer.ok ? 0 : 1, stdout: '', stderr };
  return { status: answer.status, headers: answer.headers, text, pushed };
}
