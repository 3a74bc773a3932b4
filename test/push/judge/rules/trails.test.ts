/**
 * Trails of tools in a push that is judged. What is recognised: test/leaks/trails.test.ts.
 */
import { expect, it } from 'vitest';
import { UNCOUNTED } from '../../../../src/git/memory.ts';
import { trails, usualAnywhere } from '../../../../src/push/judge/rules/trails.ts';

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
  trails({
    history: { conventions: new Set(conventions) },
    received: { options: { publishNames: more.publishNames ?? false } },
    circumstances: {
      settings: { identityCheck: more.identityCheck ?? 'refuse', hostUrl: 'https://github.com' },
      memory: UNCOUNTED,
    },
    plan: { messages: [Buffer.from(message)] },
    pushed: { title: textOf(title), description: textOf(description) },
  });

const LINK = 'These links have ids, by which their servers may know you:';

it('refuses the id of a session, with its place and two ways on, and warns of the rest', async () => {
  const message = `Mend it\n\nSee https://ci.example/${UUID}\n\n${SESSION}\n`;
  const [refusal, warning, ...others] = await find({ message });
  expect(refusal).toMatchObject({
    severity: 'refuse',
    code: 'trails',
    reason: 'the id of a session of yours would become public',
    needs: ['strip-trails'],
  });
  expect(refusal?.lines).toEqual([
    'A tool has written the id of your session into a message. It leads to your account:',
    `  message of "Mend it": ${SESSION}`,
    'To publish the messages without these trailers and notes, add: -o strip-trails',
    expect.stringMatching(/^Remove the line and push again: "git commit --amend"/),
    'To publish it anyway, add: -o publish-names',
  ]);
  const lines = [LINK, `  message of "Mend it": See https://ci.example/${UUID}`];
  expect([warning, others]).toEqual([{ severity: 'warn', code: 'trails', lines }, []]);
});

it('knows the code host in any repository, and nothing that depends on upstream’s messages', () => {
  expect([...usualAnywhere('https://github.com')]).toEqual(['//github.com']);
});

it.each([{ publishNames: true }, { identityCheck: 'warn' }, { conventions: ['claude-session:'] }] as const)(
  'only warns of it: %j',
  async (allowed) => {
    const found = await find({ message: `Mend it\n\n${SESSION}\n`, ...allowed });
    expect(found).toMatchObject([{ severity: 'warn', code: 'trails' }]);
    expect(found[0]?.lines[1]).toBe(`  message of "Mend it": ${SESSION}`);
  },
);

it('says nothing where the service does not look for names, nor of the code host', async () => {
  expect(await find({ message: SESSION, identityCheck: 'off' })).toEqual([]);
  expect(await find({ description: `See https://github.com/${UUID}` })).toEqual([]);
});

const AMEND = expect.stringMatching(/^Remove the line and push again: "git commit --amend"/);
const DESCRIBE = 'Push again with another description, which does not have the line.';
const ADD = 'To publish the messages without these trailers and notes, add: -o strip-trails';

it.each([
  ['Mend it\n', [], [DESCRIBE]],
  [`Mend it\n\n${SESSION}\n`, [`  message of "Mend it": ${SESSION}`], [ADD, AMEND, DESCRIBE]],
])('finds it in a description, of which no option leaves it out: %j', async (message, places, ways) => {
  const [refusal] = await find({ message, description: SESSION });
  expect(refusal).toMatchObject({ severity: 'refuse', needs: [] });
  expect(refusal?.lines.slice(1, -1)).toEqual([...places, `  description: ${SESSION}`, ...ways]);
});

it('advises to leave lines out of messages, and not if only a description has them', async () => {
  const trailer = `Foo-Id: ${UUID}`;
  const [inDescription] = await find({ description: trailer });
  expect(inDescription?.lines).toHaveLength(2);
  const [inMessage] = await find({ message: `Mend it\n\n${trailer}\n` });
  expect(inMessage?.lines.slice(2)).toEqual([ADD]);
});

it('warns of its link in a title, which has no trailer', async () => {
  const found = await find({ title: SESSION });
  expect(found).toEqual([{ severity: 'warn', code: 'trails', lines: [LINK, `  title: ${SESSION}`] }]);
});
