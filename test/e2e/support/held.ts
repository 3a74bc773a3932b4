/** What tests of held pushes share. */
import { expect } from 'vitest';
import { contribute, type Contribution } from './contribution.ts';
import type { GitRun } from './person.ts';
import { keyIn, remoteLines } from './push-output.ts';
import type { TestBed, UpstreamOptions } from './test-bed.ts';
import { TEST_HEADER } from './tripwire.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** The hash of a push that was held; fails if it was not. */
export function heldAs(pushed: GitRun): string {
  expect(pushed.code, pushed.stderr).toBe(0);
  const lines = remoteLines(pushed);
  expect(
    lines.some((line) => line.startsWith('Held: ')),
    pushed.stderr,
  ).toBe(true);
  const hash = lines.map((line) => /PR hash: +(\w+)/.exec(line)?.[1]).find(Boolean);
  expect(hash, pushed.stderr).toBeDefined();
  return hash as string;
}

/** The same, with the options of a push that gives it up. */
export function heldWith(pushed: GitRun): Pick<HeldContribution, 'hash' | 'withdraw'> {
  const hash = heldAs(pushed);
  return { hash, withdraw: ['-o', 'withdraw', '-o', `pr-hash=${hash}`, '-o', `pr-key=${keyIn(pushed)}`] };
}

/** The page of a push, as a terminal shows it. */
export async function pageOf({ service }: Pick<TestBed, 'service'>, hash: string): Promise<string> {
  const headers = { Accept: 'text/plain', [TEST_HEADER]: '1' };
  const response = await fetch(`${service.url}/v1/pr/${hash}`, { headers });
  return `${response.status} ${await response.text()}`;
}

export interface HeldContribution extends Contribution {
  readonly hash: string;
  /** Options of a push that gives it up, or withdraws the pull request. */
  readonly withdraw: readonly string[];
}

/** A push of one commit that is held for an hour. */
export async function held(
  bed: TestBed,
  wanted: UpstreamOptions = {},
  options: readonly string[] = ['-o', 'delay=1h'],
): Promise<HeldContribution> {
  const contribution = await contribute(bed, wanted);
  await contribution.clone.commit();
  const pushed = await contribution.clone.push(...options, 'origin', 'HEAD:topic');
  return { ...contribution, ...heldWith(pushed) };
}

/** Each look is further in the future: there are minutes between two that are published. */
let minutes = 0;

/** Runs the scheduled handler late enough for all that is held for up to three hours. */
export async function pass({ service }: Pick<TestBed, 'service'>): Promise<void> {
  minutes += 3;
  await service.runScheduled(Date.now() + 6 * HOUR_MS + minutes * MINUTE_MS);
}
