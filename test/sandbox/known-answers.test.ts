/**
 * Checks that the answers besides success that tests let the host give have the bodies that GitHub
 * describes for errors.
 */
import { expect, it } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import * as known from '../../sandbox/known-answers.ts';
import { knownLimits } from '../../sandbox/known-limits.ts';
import { problemsWith } from './support/openapi.ts';

type Answer = NonNullable<Fault['answer']>;

/** Those of Git are text. */
const isRest = (value: unknown): value is Answer =>
  typeof value === 'object' && typeof (value as Answer).body === 'object';

const ANSWERS: readonly (readonly [string, Answer])[] = [
  ...Object.entries(known).flatMap(([name, value]) => (isRest(value) ? [[name, value] as const] : [])),
  ['a redirect', known.moved(301, 'https://host.test/repos/octocat/hello/pulls')],
  ...knownLimits(new Date('2026-11-22T12:00:00Z')).flatMap(({ name, to, answer }) =>
    to === 'git' ? [] : [[name, answer] as const],
  ),
];

it.each(ANSWERS)('%s', (_, { status, body }) => {
  for (const path of ['/repos/octocat/hello/pulls', '/repos/octocat/hello/issues/1/comments']) {
    expect(problemsWith('POST', path, status, body)).toEqual([]);
  }
});

it('are more than a handful', () => expect(ANSWERS.length).toBeGreaterThan(15));
