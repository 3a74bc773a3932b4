/** The limits that tests switch on have the bodies that GitHub describes for errors. */
import { expect, it } from 'vitest';
import { knownLimits } from '../../sandbox/known-limits.ts';
import { NOT_ALLOWED_REST } from '../../sandbox/known-answers.ts';
import { problemsWith } from './support/openapi.ts';

const REST = knownLimits(new Date('2026-11-22T12:00:00Z')).filter(({ to }) => to !== 'git');

it.each([...REST, { name: 'a list of addresses', answer: NOT_ALLOWED_REST }])('$name', ({ answer }) => {
  const { status, body } = answer;
  for (const path of ['/repos/octocat/hello/pulls', '/repos/octocat/hello/issues/1/comments']) {
    expect(problemsWith('POST', path, status, body)).toEqual([]);
  }
});
