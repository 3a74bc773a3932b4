/**
 * Which answers of the REST interface are believed: those with the status of a success, and fields
 * of the right shape. Proxies and faults answer 200, too. Else all functions throw TypeError: what
 * was done is then unknown.
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

/** A number by which the host knows something. */
export function expectNumber(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw new TypeError('the host names no number');
  return value as number;
}

/** Zero, too. */
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

/** The address of a page, as it is shown to people. */
export function expectAddress(value: unknown): string {
  const text = expectText(value);
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(text)) throw new TypeError('the host names no address');
  return text;
}

/** The thread whose page that is. */
export function expectThread(address: unknown): { repository: RepositoryName; index: number } {
  const path = new URL(expectAddress(address)).pathname.split('/');
  const [owner = '', name = '', , number] = path.slice(-4);
  const repository = parseRepositoryName(owner, name);
  if (repository === null) throw new TypeError('the host names no thread');
  return { repository, index: expectNumber(Number(number)) };
}

/** A login becomes part of commits and of addresses. An app's ends in `[bot]`. */
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
