/** Which of a push's commands is taken, and what the others are told. */
import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/git/wire/push-request.ts';
import { deletedBranch, planCommands } from '../../../src/push/receive/receive.ts';
import { oidNumber } from '../../support/objects.ts';

const ZERO = '0'.repeat(40);
const update = (refName: string): Command => ({ oldId: oidNumber(1), newId: oidNumber(2), refName });
const deletion = (refName: string): Command => ({ ...update(refName), newId: ZERO });

const takenRef = (...commands: Command[]) => planCommands(commands).taken?.command.refName ?? null;
const reasons = (...commands: Command[]) =>
  planCommands(commands).refused.map(({ refName, reason }) => [refName, reason]);

const DELETION = 'nothing to delete: to withdraw a pull request, add -o pr-hash and -o pr-key';
const TAG = 'tags are not accepted, because they contain a name: push a branch';
const SECOND = 'one branch per push: push this one separately';
const INVALID = 'invalid ref name';
const NO_TEXT = 'invalid ref name: it is not UTF-8';
const OTHER = 'only branches are accepted';

describe('planCommands', () => {
  it('takes a branch, new or not, and a base that is named in the AGit form', () => {
    expect(planCommands([update('refs/heads/x')])).toEqual({
      taken: { command: update('refs/heads/x'), target: { kind: 'branch', branch: 'x' } },
      refused: [],
    });
    expect(takenRef({ ...update('refs/heads/x'), oldId: ZERO })).toBe('refs/heads/x');
    expect(planCommands([update('refs/for/main')]).taken?.target).toEqual({ kind: 'for', base: 'main' });
  });

  it.each([
    [deletion('refs/heads/x'), DELETION],
    [deletion('refs/tags/v1'), DELETION],
    [deletion('refs/for/main'), DELETION],
    [update('refs/tags/v1'), TAG],
    [update('refs/heads/gr\udcf6\udcdfe'), NO_TEXT],
    [update('refs/notes/commits'), OTHER],
    [update('refs/pull/1/head'), OTHER],
    [update('refs/heads/a..b'), INVALID],
    [update('refs/heads/x.lock'), INVALID],
    [update('HEAD'), INVALID],
    [deletion('refs/heads/'), INVALID],
  ])('takes nothing of a push of %o alone', (command, reason) => {
    expect(planCommands([command])).toEqual({ taken: null, refused: [{ refName: command.refName, reason }] });
  });

  it('takes the first branch of several, wherever it stands, and answers each of the others by name', () => {
    const commands = [
      deletion('refs/heads/old'),
      update('refs/tags/v1'),
      update('refs/heads/one'),
      update('refs/heads/two'),
      update('refs/for/main'),
      update('refs/notes/commits'),
    ];
    expect(takenRef(...commands)).toBe('refs/heads/one');
    expect(reasons(...commands)).toEqual([
      ['refs/heads/old', DELETION],
      ['refs/tags/v1', TAG],
      ['refs/heads/two', SECOND],
      ['refs/for/main', SECOND],
      ['refs/notes/commits', OTHER],
    ]);
  });

  it('gives reasons that fit into one line of the status table', () => {
    for (const reason of [DELETION, TAG, SECOND, OTHER, INVALID]) expect(reason).toMatch(/^[^\n]{1,80}$/);
  });
});

describe('deletedBranch', () => {
  it.each(['refs/heads/main', 'refs/heads/a/b', 'refs/for/main'])(
    'is %s where a push deletes that alone',
    (name) => {
      expect(deletedBranch([deletion(name)])).toBe(name);
    },
  );

  it.each([
    [[]],
    [[update('refs/heads/x')]],
    [[deletion('refs/tags/v1')]],
    [[deletion('refs/heads/a..b')]],
    [[deletion('refs/heads/x'), deletion('refs/heads/y')]],
    [[deletion('refs/heads/x'), update('refs/heads/y')]],
  ])('is null for %j', (commands) => {
    expect(deletedBranch(commands)).toBeNull();
  });
});
