/** Steps that tests of delayed pushes share. */
import { expect } from 'vitest';
import { contribute, type Contribution } from './contribution.ts';
import type { GitRun } from './person.ts';
import { remoteLines } from './push-output.ts';
import type { TestBed, UpstreamOptions } from './test-bed.ts';
import { TEST_HEADER } from './tripwire.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** The name of a push that was delayed; fails if it was not. */
export function delayedAs(pushed: GitRun): string {
  expect(pushed.code, pushed.stderr).toBe(0);
  const lines = remoteLines(pushed);
  expect(
    lines.some((line) => line.startsWith('Delayed: ')),
    pushed.stderr,
  ).toBe(true);
  return nameIn(lines.join('\n'));
}

/** The name in the address of a page. */
export function nameIn(text: string): string {
  const name = /\/v1\/delayed\/([0-9a-f]{32})\b/.exec(text)?.[1];
  expect(name, text).toBeDefined();
  return name as string;
}

/** The page of a delayed push, as a terminal shows it. */
export async function pageOf({ service }: Pick<TestBed, 'service'>, name: string): Promise<string> {
  const headers = { Accept: 'text/plain', [TEST_HEADER]: '1' };
  const response = await fetch(`${service.url}/v1/delayed/${name}`, { headers });
  return `${response.status} ${await response.text()}`;
}

/** A button of the page. Answers what the page says then. */
export async function press(
  bed: Pick<TestBed, 'service'>,
  name: string,
  action: 'publish' | 'give-up',
): Promise<string> {
  const url = `${bed.service.url}/v1/delayed/${name}`;
  const headers = { [TEST_HEADER]: '1', Origin: bed.service.url };
  const body = new URLSearchParams({ action });
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  if (response.status !== 303) return `${response.status} ${await response.text()}`;
  return pageOf(bed, name);
}

/** The pr_hash and the key that the page tells. */
export function publishedAs(page: string): { readonly prHash: string; readonly key: string } {
  const [, prHash] = /PR hash: +(\w+)/.exec(page) ?? [];
  const [, key] = /PR key: +(\w+)/.exec(page) ?? [];
  expect([prHash, key], page).not.toContain(undefined);
  return { prHash: prHash as string, key: key as string };
}

export interface DelayedContribution extends Contribution {
  readonly name: string;
}

/** A push of one commit that is delayed for an hour. */
export async function delayed(
  bed: TestBed,
  wanted: UpstreamOptions = {},
  options: readonly string[] = ['-o', 'delay=1h'],
): Promise<DelayedContribution> {
  const contribution = await contribute(bed, wanted);
  await contribution.clone.commit();
  const pushed = await contribution.clone.push(...options, 'origin', 'HEAD:topic');
  return { ...contribution, name: delayedAs(pushed) };
}

/**
 * Each look is further in the future than any pause: a run waits for what is due within its minute.
 */
let looks = 0;

/** Runs the scheduled handler late enough for all that waits for up to three hours. */
export async function pass({ service }: Pick<TestBed, 'service'>): Promise<void> {
  looks++;
  await service.runScheduled(Date.now() + 6 * HOUR_MS + looks * (HOUR_MS + 2 * MINUTE_MS));
}

/** Passes until it is published, rarely enough not to get to its end. Answers its page. */
export async function published(bed: Pick<TestBed, 'service'>, name: string): Promise<string> {
  const shown = async () => (await pass(bed), pageOf(bed, name));
  await expect.poll(shown, { interval: 500 }).toMatch(/\/pulls?\/\d/);
  return pageOf(bed, name);
}
