/**
 * Trails of tools in a push that is judged. What is recognised: test/leaks/trails.test.ts.
 */
import { expect, it } from 'vitest';
import { UNCOUNTED } from '../../../../src/git/memory.ts';
import { findTrails, usualIn } from '../../../../src/push/judge/rules/trails.ts';

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

const find = ({ message = 'Mend it\n', title, description, conventions, ...more }: Searched) =>
  findTrails({
    settings: { identityCheck: more.identityCheck ?? 'refuse' },
    options: { publishNames: more.publishNames ?? false },
    plan: { messages: () => [Buffer.from(message)] },
    texts: { title: textOf(title), description: textOf(description) },
    usual: usualIn({ conventions: new Set(conventions) }, 'https://github.com'),
    memory: UNCOUNTED,
  });

it('refuses the id of a session, with its place and two ways on', async () => {
  const { refusal } = await find({ message: `Mend it\n\n${SESSION}\n` });
  expect([refusal?.code, refusal?.message]).toEqual([
    'trails',
    'the id of a session of yours would become public',
  ]);
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
    const { refusal, lines } = await find({ message: SESSION, ...allowed });
    expect([refusal, lines[1]]).toEqual([null, `  message of "${SESSION}": ${SESSION}`]);
  },
);

it('says nothing where the service does not look for names', async () => {
  expect(await find({ message: SESSION, identityCheck: 'off' })).toEqual({ refusal: null, lines: [] });
});

it.each(['title', 'description'] as const)('finds it in a %s', async (where) => {
  const { refusal } = await find({ [where]: SESSION });
  expect(refusal?.lines[1]).toBe(`  ${where}: ${SESSION}`);
});

it('warns of what may be usual elsewhere, and not of the code host', async () => {
  const { refusal, lines } = await find({ description: `See https://ci.example/${UUID}` });
  expect([refusal, lines]).toEqual([
    null,
    [
      'These links have ids, by which their servers may know you:',
      `  description: See https://ci.example/${UUID}`,
    ],
  ]);
  expect((await find({ description: `See https://github.com/${UUID}` })).lines).toEqual([]);
});
