/**
 * Checks answers of the REST interface: a status of success, and fields of the right shape, because
 * proxies and faults answer 200, too. For any other answer, all functions throw TypeError, and it
 * is unknown what was done.
 * Proved by test/host/bad-answers.test.ts and test/host/rest/rest.test.ts.
 */
import { parseRepositoryName, type RepositoryName } from '../../words/repository-name.ts';

export function expectStatus({ status }: { readonly status: number }, ...expected: readonly number[]): void {
  if (!expected.includes(status)) throw new TypeError(`the host answers with ${status}`);
}

export function expectText(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new TypeError('the host names no text');
  return value;
}

/** Checks an id or a number of a thread. */
export function expectNumber(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw new TypeError('the host names no number');
  return value as number;
}

/** Checks a number that may be 0. */
export function expectSize(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0)) throw new TypeError('the host names no size');
  return value;
}

export function expectFlag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new TypeError('the host says neither yes nor no');
  return value;
}

export function expectList<T>(value: readonly T[]): readonly T[] {
  if (!Array.isArray(value) || value.includes(null)) throw new TypeError('the host names no list');
  return value;
}

/** Checks the address of a page, which is shown to people. */
export function expectAddress(value: unknown): string {
  const text = expectText(value);
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(text)) throw new TypeError('the host names no address');
  return text;
}

/** Reads the thread from the address of its page. */
export function expectThread(address: unknown): { repository: RepositoryName; index: number } {
  const path = new URL(expectAddress(address)).pathname.split('/');
  const [owner = '', name = '', , number] = path.slice(-4);
  const repository = parseRepositoryName(owner, name);
  if (repository === null) throw new TypeError('the host names no thread');
  return { repository, index: expectNumber(Number(number)) };
}

/** Checks a login, which becomes part of commits and of addresses. An app's ends in `[bot]`. */
export function expectLogin(value: unknown): string {
  const text = expectText(value);
  if (!/^[\w.-]{1,100}(?:\[bot\])?$/.test(text)) throw new TypeError('the host names no login');
  return text;
}

export function expectRepository(value: {
  readonly name: string;
  readonly owner: { readonly login: string };
}): RepositoryName {
  const name = parseRepositoryName(expectText(value.owner.login), expectText(value.name));
  if (name === null) throw new TypeError('the host names no repository');
  return name;
}
