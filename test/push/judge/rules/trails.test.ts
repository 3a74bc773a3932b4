/**
 * Trails of tools in a push that is judged. What is recognised: test/leaks/trails.test.ts.
 */
import { expect, it } from 'vitest';
import { trails } from '../../../../src/push/judge/rules/trails.ts';
import type { UpstreamHistory } from '../../../../src/upstream/upstream-history.ts';
import { knownPush } from '../../../support/known-push.ts';

const UUID = '019cb9fe-b11b-753f-99e7-8ecc52b73ec4';
const SESSION = `Claude-Session: https://claude.ai/code/session_${UUID}`;

interface Searched {
  readonly message?: string;
  readonly title?: string;
  readonly description?: string;
  readonly conventions?: readonly string[];
  readonly publishNames?: boolean;
  readonly identityCheck?: 'refuse' | 'warn' | 'off';
}

const textOf = (text?: string) => (text === undefined ? null : { bytes: Buffer.from(text), mentions: [] });

/** The one finding of the rule; null: it finds nothing. */
async function find({ message = 'Mend it\n', title, description, conventions, ...more }: Searched) {
  const known = knownPush({
    commits: [{ message }],
    options: { publishNames: more.publishNames ?? false },
    pushed: { title: textOf(title), description: textOf(description) },
  });
  const settings = { ...known.circumstances.settings, identityCheck: more.identityCheck ?? 'refuse' };
  const found = await trails({
    ...known,
    circumstances: { ...known.circumstances, settings },
    history: { conventions: new Set(conventions) } as unknown as UpstreamHistory,
  });
  expect(found.length).toBeLessThanOrEqual(1);
  return found[0] ?? null;
}

it('refuses the id of a session, with its place and two ways on', async () => {
  const refusal = await find({ message: `Mend it\n\n${SESSION}\n` });
  expect(refusal).toMatchObject({
    severity: 'refuse',
    code: 'trails',
    message: 'the id of a session of yours would become public',
  });
  expect(refusal?.lines).toEqual([
    'A tool has written the id of your session into a message. It leads to your account:',
    `  message of "Mend it": ${SESSION}`,
    'To publish the messages without these trailers and notes, add: -o strip-trails',
    'Nothing of this push was sent.',
    expect.stringMatching(/^Remove the line and push again: "git commit --amend"/),
    'To publish it anyway, add: -o publish-names',
  ]);
});

it.each([{ publishNames: true }, { identityCheck: 'warn' }, { conventions: ['claude-session:'] }] as const)(
  'warns of it: %j',
  async (allowed) => {
    const warning = await find({ message: SESSION, ...allowed });
    expect(warning).toMatchObject({ severity: 'warn', code: 'trails' });
    expect(warning?.lines[1]).toBe(`  message of "${SESSION}": ${SESSION}`);
  },
);

it('says nothing where the service does not look for names', async () => {
  expect(await find({ message: SESSION, identityCheck: 'off' })).toBeNull();
});

it.each(['title', 'description'] as const)('finds it in a %s', async (where) => {
  const refusal = await find({ [where]: SESSION });
  expect(refusal?.lines[1]).toBe(`  ${where}: ${SESSION}`);
});

it('warns of what may be usual elsewhere, and not of the code host', async () => {
  expect(await find({ description: `See https://ci.example/${UUID}` })).toEqual({
    severity: 'warn',
    code: 'trails',
    lines: [
      'These links have ids, by which their servers may know you:',
      `  description: See https://ci.example/${UUID}`,
    ],
  });
  expect(await find({ description: `See https://git.test/${UUID}` })).toBeNull();
});
