/**
 * Trails that tools write into messages without being asked. Files: test/leaks/file-trails.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { UNCOUNTED } from '../../src/git/memory.ts';
import { stripperOf, tellTrails } from '../../src/leaks/trails.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { workOf } from '../support/work-meter.ts';

const UUID = '019cb9fe-b11b-753f-99e7-8ecc52b73ec4';
const RUN = '01AbCd23EfGh45IjKl67MnOp';
const SESSION = `https://claude.ai/code/session_${RUN}`;

const HEADINGS = {
  session: 'A tool has written the id of your session into a message. It leads to your account:',
  trailer: 'These trailers have ids, which may lead to you:',
  note: 'Git’s own notes tell your local time, or names of your branches and files:',
  link: 'These links have ids, by which their servers may know you:',
  prompt: 'The prompt of a shell names your login and your machine:',
};

const NOWHERE = { messages: false, texts: false };
const NOTHING = { refused: [], isRefusedIn: NOWHERE, warned: [], advice: [] };

/** A message begins with a title, which has no trailer. */
const below = (line: string) => `Mend it\n\n${line}\n`;
const tell = (message: string | Uint8Array, ...usual: string[]) =>
  tellTrails(
    [{ where: () => 'it', text: Buffer.from(message), isMessage: true }],
    new Set(['//github.com', ...usual]),
    UNCOUNTED,
  );
const strip = (message: string) =>
  Buffer.from(stripperOf(new Set())({ content: Buffer.from('') }, Buffer.from(message))).toString();

it('takes a hash on a line of its own for what it is: docs/privacy.md tells people to write one', async () => {
  expect(await tell(below('0f'.repeat(32)))).toEqual(NOTHING);
});

describe('the id of a session in a trailer', () => {
  it.each([
    `Claude-Session: ${SESSION}`,
    `Amp-Thread-ID: https://ampcode.com/threads/T-${UUID}`,
    `amp-thread-id: T-${UUID}`,
    `Agent-Conversation: ${UUID}`,
    `Chat: ${SESSION}`,
  ])('refuses: %s', async (line) => {
    expect(await tell(`Mend it\n\n${line}\nAcked-by: A <a@b.example>\n`)).toEqual({
      refused: [HEADINGS.session, `  it: ${line}`],
      isRefusedIn: { messages: true, texts: false },
      warned: [],
      advice: ['To publish the messages without these trailers and notes, add: -o strip-trails'],
    });
  });

  it('refuses as a folded line, and is shown with its key', async () => {
    const { refused } = await tell(`Mend it\n\nClaude-Session:\n ${SESSION}\n`);
    expect(refused).toEqual([HEADINGS.session, `  it: Claude-Session: ${SESSION}`]);
  });

  it('is only told of where upstream’s messages have such trailers', async () => {
    const line = `Claude-Session: ${SESSION}`;
    const { refused, warned } = await tell(below(line), 'claude-session:', '//claude.ai');
    expect([refused, warned]).toEqual([[], [HEADINGS.trailer, `  it: ${line}`]]);
  });
});

describe('what warns', () => {
  it.each([
    ['trailer', `git-svn-id: https://svn.corp.example/repo/trunk@7 ${UUID}`],
    ['trailer', `GitPrivacy: gAAAAABl1x2y3z4A5b6C7d8E9f0`],
    ['trailer', `Entire-Checkpoint: 01M3WE2VX9HQC3NVY9BWYCW6JV`],
    ['trailer', `Link: https://gist.example/ada/${'0123456789abcdef'.repeat(2)}`],
    ['link', `Link to Devin session: https://app.devin.ai/sessions/${'0123456789abcdef'.repeat(2)}`],
    ['link', `    As said in <https://chatgpt.com/share/${UUID}>, this is faster.`],
    ['link', `\`\`\`\ncurl ${SESSION}\n\`\`\``],
    ['note', 'Date:   Sat Nov 28 20:46:53 2026 +0100'],
    ['note', '    AuthorDate: Sat Nov  8 20:46:53 2026 +0100'],
    ['note', '# On branch acme-1234'],
    ['note', 'On branch acme-1234'],
    ['note', 'On branch voil\u00c3\u00a0'],
    ['note', '# Untracked files:'],
    ['note', '; Changes to be committed:'],
    ['note', "# Your branch is up to date with 'origin/acme'."],
    ['note', "Your branch is ahead of 'origin/acme' by 1 commit."],
    ['note', "# Your branch is behind 'origin/acme' by 2 commits, and can be fast-forwarded."],
    ['note', "# Your branch is based on 'origin/acme', but the upstream is gone."],
    ['note', "# Your branch and 'origin/acme' have diverged,"],
    ['prompt', 'ada@macbook:~/src$ make'],
    ['prompt', '(venv) ada@macbook:/tmp# make'],
    ['prompt', '  [ada@fedora src]$ make'],
    ['prompt', 'ada@Adas-MacBook-Pro src % make'],
  ] as const)('is a %s: %s', async (kind, lines) => {
    const { refused, warned } = await tell(`Mend it\n\n${lines}\n`);
    expect(refused).toEqual([]);
    const last = lines.split('\n').find((line) => line.length > 4) ?? '';
    expect(warned).toEqual([HEADINGS[kind], `  it: ${last.trim().replaceAll(/\s+/g, ' ')}`]);
  });

  it('is counted beyond ten lines, and each line is told of once', async () => {
    const { warned } = await tell(Array.from({ length: 30 }, (_, at) => `On branch b${at % 15}\n`).join(''));
    expect(warned).toHaveLength(12);
    expect(warned.at(-1)).toBe('  and 5 more');
  });
});

describe('what is usual', () => {
  it.each([
    'Link: https://lore.kernel.org/r/20231010123456.12345-1-ada@example.org',
    'Link: https://lore.kernel.org/r/20230615-topic-v1-1-0123456789ab@kernel.org',
    `Fixes: 0123456789ab ("It")`,
    `(cherry picked from commit ${'0123456789'.repeat(4)})`,
    'Closes: https://github.com/octo/hello/issues/1',
    `See https://github.com/user-attachments/assets/${UUID}`,
    `The UUID ${UUID} is fixed.`,
    'Date: today',
    'On branch main we do it.',
    'Note: On branch',
    'Your branch is behind the one that it is based on.',
    'Untracked files: these are not searched.',
    'chat-template: support Llama4Maverick17BInstruct',
    `Follow-up: we saw ${UUID} again`,
    '# Conflicts:\n#\ta.c',
    '# Heading\n## Another',
    'git@github.com:octo/hello.git costs $5',
    'Mail ada@example.org: it is a % of it',
    'Co-authored-by: A <a@b.example>',
  ])('is nothing: %s', async (line) => {
    expect(await tell(`Mend it\n\n${line}\n`)).toEqual(NOTHING);
  });

  it('is also what upstream’s messages have', async () => {
    const link = `https://lore.kernel.org/r/CAHk-wgfXc6JQHm7k2L9${'aB3'.repeat(5)}@mail.example`;
    for (const line of [`Link: ${link}`, `See ${link}`, `Message-Id: <${RUN}@mail.example>`]) {
      expect((await tell(below(line))).warned).toHaveLength(2);
      expect(await tell(below(line), 'message-id:', '//lore.kernel.org')).toEqual(NOTHING);
    }
  });

  it('is a title that begins like a trailer', async () => {
    for (const line of [`chat-template: ${RUN}`, `session: ${UUID}`])
      expect(await tell(`${line}\n`)).toEqual(NOTHING);
  });

  it('is no session: its link leads to an account all the same', async () => {
    expect((await tell(`See ${SESSION}`, '//claude.ai')).warned).toHaveLength(2);
  });
});

describe('-o strip-trails', () => {
  it('leaves out what tools wrote as lines of their own, and nothing else', () => {
    const message = `Mend it

See ${SESSION} for why.
ada@macbook:~$ make

Date:   Sat Nov 28 20:46:53 2026 +0100

Acked-by: A <a@b.example>
Claude-Session:
 ${SESSION}
 and more
git-svn-id: https://svn.corp.example/repo/trunk@7 ${UUID}
Tested-by: B <b@b.example>

# On branch acme-1234
#
# Untracked files:
#\tacme.txt
`;
    const stripped = `Mend it

See ${SESSION} for why.
ada@macbook:~$ make

Acked-by: A <a@b.example>
Tested-by: B <b@b.example>
`;
    expect(strip(message)).toBe(stripped);
    expect(strip(stripped)).toBe(stripped);
  });

  it.each([
    [`A\n\nAmp-Thread-ID: T-${UUID}`, 'A\n'],
    [`On branch x\n\nA\n`, 'A\n'],
    ['A\n\nOn branch x,\n  B\n', 'A\n\n  B\n'],
    [`On branch x\n`, 'Anonymous contribution\n'],
    [`A\n\n\nB\n\n`, 'A\n\n\nB\n\n'],
    ['Caf\xe9\n\nOn branch x\n', 'Caf\xe9\n'],
    ['A\n\n^ On branch x\n^\n^ Untracked files:\n^\tb.txt\nB\n', 'A\n\nB\n'],
    ['A\n\nOn branch x\nUntracked files:\n  (use "git add")\n\tb.txt\n\tc.txt\n\nB\n', 'A\n\nB\n'],
    ['A\n\nUntracked files:\n  (use "git add")\n\n\tb.txt\n\nB\n\n\tC\n', 'A\n\nB\n\n\tC\n'],
    ['A\n\n    Date: Sat Nov 28 20:46:53 2026 +0100\n    B\n', 'A\n\n    B\n'],
    [`session: ${RUN}\n\nAmp-Thread-ID: T-${UUID}\n`, `session: ${RUN}\n`],
    [`A\n\nFollow-up: we saw ${UUID}\n  again\n`, `A\n\nFollow-up: we saw ${UUID}\n  again\n`],
    ['A\n\nYour branch is behind\n  the times.\n', 'A\n\nYour branch is behind\n  the times.\n'],
  ])('makes of %j: %j', (message, stripped) => {
    expect(strip(message)).toBe(stripped);
  });

  it('ends where there are too many', () => {
    expect(() => strip(`Amp-Thread-ID: T-${UUID}\n`.repeat(20_001))).toThrow(/more than 20000 lines/);
  });

  it.each(['internationalization', 'how_to-write_X509_certificates', '0123456789'.repeat(4)])(
    'does not count what is no id: %s',
    (word) => {
      const message = `Mend it\n\n${`${word}\n`.repeat(20_001)}`;
      expect(strip(message)).toBe(message);
    },
  );
});

const fill = (part: string, bytes: number) => part.repeat(Math.ceil(bytes / part.length));

const HOSTILE: Readonly<Record<string, (bytes: number) => string | Uint8Array>> = {
  trailers: (bytes) => fill(`Amp-Thread-ID: T-${UUID}\n`, bytes),
  'links in one line': (bytes) => fill(`https://a.example/${RUN} `, bytes),
  'one address': (bytes) => `See https://claude.ai/chat/${fill('a/', bytes)}/${UUID}`,
  'one address of ids': (bytes) => `https://claude.ai/${fill(`${RUN}/`, bytes)}`,
  'one id': (bytes) => fill('a1', bytes),
  'parts of a UUID': (bytes) => fill('01234567-89ab-', bytes),
  'folded lines': (bytes) => `\nA-b:${fill('\n ', bytes)}${fill(`${RUN}\n `, 100_000)}`,
  notes: (bytes) => fill('On branch x\n', bytes),
  'beginnings of notes': (bytes) => fill('Date: ', bytes),
  blanks: (bytes) => fill(' ', bytes),
  'line feeds': (bytes) => fill('\n', bytes),
  prompts: (bytes) => fill('ada@x:~$ \n', bytes),
  'beginnings of prompts': (bytes) => fill('ada@', bytes),
  'UTF-16': (bytes) => Buffer.from(fill(`Amp-Thread-ID: T-${UUID}\n`, bytes / 2), 'utf16le'),
};

function describeMessageOf(size: number): void {
  it.each(Object.entries(HOSTILE))('full of %s is looked at a bounded number of times', async (_, make) => {
    const message = make(size);
    const { looks, bytes } = await workOf(() => tell(message));
    expect(looks, 'looks').toBeLessThan(30_000);
    expect(bytes, 'bytes').toBeLessThan(1.1 * message.length + 5_000_000);
  });
}

describe('a message of 100,000 bytes', () => describeMessageOf(100_000));
describe('a message of ten megabytes', exhaustive, () => describeMessageOf(10_000_000));

it('says that the search has ended', async () => {
  const { advice } = await tell(fill(`Foo-Id: ${UUID}\n`, 100_000));
  expect(advice.at(-1)).toMatch(/^Not searched further for trails of tools in messages:/);
});
