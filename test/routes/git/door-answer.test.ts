/** Advice of a push at a door: an option stands in the address there. */
import { expect, it } from 'vitest';
import { forAddress } from '../../../src/routes/git/door-answer.ts';

it.each([
  ['To sign off, add: -o sign-off', 'To sign off, add: ?sign-off'],
  ['Say it: -o ai=none, or push without "-o squash".', 'Say it: ?ai=none, or push without "?squash".'],
  ['You need its key: add -o pr-key=<key>.', 'You need its key: add the header X-PR-Key: <key>.'],
  ['Add -o pr-hash and -o pr-key', 'Add ?pr-hash and the header X-PR-Key'],
  ['Files: a -o b, a-o draft', 'Files: a -o b, a-o draft'],
  ['  git push -o withdraw HEAD:main', '  git push -o withdraw HEAD:main'],
])('%s', (line, words) => {
  expect(forAddress(line, '?')).toBe(words);
});

it('an option is added to those that are there', () => {
  expect(forAddress('To sign off, add: -o sign-off', '&')).toBe('To sign off, add: &sign-off');
});
