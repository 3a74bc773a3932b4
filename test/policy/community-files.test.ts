/**
 * Files of a repository besides its `.gitveil.yml`, in the formats that their owners document, and
 * in odd ones.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashObject } from '../../src/git/objects/oid.ts';
import { encodeTree } from '../../src/git/objects/tree.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import type { FileAnswer } from '../../src/host/code-host.ts';
import { NO_FILES, readCommunityFiles, vouchedStanding } from '../../src/policy/community-files.ts';
import {
  gateSentence,
  OPEN_POLICY,
  policyRefusal,
  vouchGate,
  withCommunity,
} from '../../src/policy/policy.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };

/**
 * A repository of these files; answers what was asked for, too.
 * @param files null: a folder stands there.
 */
function repository(files: Readonly<Record<string, string | Uint8Array | null>>) {
  const asked: string[] = [];
  return {
    asked,
    async list(folder: string) {
      asked.push(`${folder}/`);
      const above = folder === '' ? '' : `${folder}/`;
      const names = Object.entries(files)
        .filter(([path]) => path.startsWith(above))
        .map(([path, content]) => {
          const [name = '', ...below] = path.slice(above.length).split('/');
          return below.length > 0 || content === null ? `${name}/` : name;
        });
      return new Map(names.map((name) => [name, above + name]));
    },
    // Here, an id is a path.
    async readAll(paths: readonly string[]) {
      asked.push('gates');
      const objects = Object.entries(files).flatMap(([path, content]) => {
        const folder = paths.find((each) => each.endsWith('/') && path.startsWith(each));
        if (content === null || !(folder !== undefined || paths.includes(path))) return [];
        return [
          {
            type: 'blob' as const,
            oid: hashObject('blob', Buffer.from(content)),
            path,
            content: Buffer.from(content),
          },
        ];
      });
      const trees = paths
        .filter((path) => path.endsWith('/'))
        .map((path) => {
          const below = objects.filter((each) => each.path.startsWith(path));
          const entries = below.map(({ path: whole, oid }) => ({
            mode: '100644',
            name: Buffer.from(whole.slice(path.length)),
            oid,
          }));
          return { type: 'tree' as const, oid: path, content: encodeTree(entries) };
        });
      const named = objects.map((each) => [paths.includes(each.path) ? each.path : each.oid, each] as const);
      return new Map<string, KeptObject>([...named, ...trees.map((tree) => [tree.oid, tree] as const)]);
    },
    async file(path: string): Promise<FileAnswer> {
      asked.push(path);
      const content = files[path];
      if (content === undefined) return { kind: 'missing' };
      return content === null ? { kind: 'unreadable' } : { kind: 'file', content: Buffer.from(content) };
    },
  };
}

const read = (files: Parameters<typeof repository>[0], login = async () => 'Gitveil-Bot') =>
  readCommunityFiles(repository(files), 'github', login);

const nobody = () => Promise.reject(new Error('nobody asks'));

const standing = async (list: string | Uint8Array | null) => {
  const { standing: found } = await read({ 'VOUCHED.td': list });
  return found && { kind: found.kind, reason: found.reason };
};

/** Tells a push to such a repository why it is refused, or what a gate may do. */
async function told(list: string | Uint8Array | null): Promise<string | null> {
  const policy = withCommunity(OPEN_POLICY, await read({ 'VOUCHED.td': list }));
  return policyRefusal(policy, REPOSITORY, 'pull_requests') ?? gateSentence(REPOSITORY, policy);
}

describe('a list of vouched accounts', () => {
  it.each([
    ['nobody', '', 'unlisted', null],
    ['only comments', '# gitveil-bot\n  # -gitveil-bot\n', 'unlisted', null],
    ['the bot', 'alice\ngitveil-bot\n', 'vouched', null],
    ['the bot, in other letters', 'GITVEIL-BOT', 'vouched', null],
    ['the bot, at this host', 'GitHub:Gitveil-bot is fine', 'vouched', null],
    ['a namesake at another host', 'gitlab:gitveil-bot\n-codeberg:gitveil-bot spam', 'unlisted', null],
    ['a longer name', 'gitveil-bot-2\n-gitveil-bots\n', 'unlisted', null],
    ['the bot with a sign that vouch does not know', '@gitveil-bot', 'unlisted', null],
    ['the bot, denounced', '-gitveil-bot', 'denounced', null],
    ['the bot, denounced with a reason', '-github:gitveil-bot  sends  spam ', 'denounced', 'sends  spam'],
    ['a line with two minus signs', '--gitveil-bot no more', 'denounced', 'no more'],
    ['a line with a minus and a sign', '-@Gitveil-Bot', 'denounced', null],
    ['line ends of Windows', 'alice\r\n-gitveil-bot spam\r\n', 'denounced', 'spam'],
    ['the bot twice', 'gitveil-bot\n-gitveil-bot', 'vouched', null],
    ['a byte-order mark', '\uFEFF-gitveil-bot', 'denounced', null],
    ['half of it without meaning', '\0\0 {[:\n::-\n-\n-gitveil-bot bye', 'denounced', 'bye'],
  ])('with %s', async (_, list, kind, reason) => {
    expect(await standing(list)).toEqual({ kind, reason });
  });

  it.each([
    ['a megabyte', '-gitveil-bot\n'.repeat(80_000), 'it is larger than 256 KB'],
    ['another encoding', Buffer.from('-gitveil-bot', 'utf16le').fill(0xff, 0, 1), 'it is not UTF-8'],
    ['a folder in its place', null, 'it is no file, or too large'],
  ])('of %s has a sentence', async (_, list, why) => {
    expect(await told(list)).toBe(
      `The service cannot read VOUCHED.td of octo/hello: ${why}. If it is a gate, the gate may close pull requests of the bot.`,
    );
  });

  it('has a sentence for a bot that it denounces, which nothing in the reason can break', async () => {
    expect(await told('-gitveil-bot')).toBe(
      'octo/hello takes no pull requests of the bot: its VOUCHED.td denounces it.',
    );
    expect(await told(`-gitveil-bot a\u0007b${'c'.repeat(9_000)}`)).toMatch(
      /^octo\/hello takes no pull requests of the bot: its VOUCHED\.td denounces it\.\nIts maintainers write: "abc{298}…"$/,
    );
  });

  it.each([
    ['", so push again at h\u200Bttps://evil.test/x or (www.evil.test) now', ', so push again at or now'],
    ['evil.test/login?x=1 asks', 'asks'],
    ['\u202Emaps\u202C sends\u2066 spam', 'maps sends spam'],
    ["see docs/CONTRIBUTING.md, and don't", "see docs/CONTRIBUTING.md, and don't"],
    ['https://evil.test', null],
  ])('lends no voice to a reason such as %j', async (reason, kept) => {
    expect(await standing(`-gitveil-bot ${reason}`)).toEqual({ kind: 'denounced', reason: kept });
  });

  it('has a sentence for a bot that is not on it, and none for one that is', async () => {
    expect(await told('alice')).toBe(
      'octo/hello has a list of vouched accounts, VOUCHED.td, without Gitveil-Bot: a gate may close pull requests of the bot. A maintainer vouches with a line "Gitveil-Bot" in that file.',
    );
    expect(await told('gitveil-bot')).toBeNull();
    expect(gateSentence(REPOSITORY, OPEN_POLICY)).toBeNull();
  });

  it('is looked for at the root first, then in .github, and nobody asks who the bot is without one', async () => {
    const both = { 'VOUCHED.td': 'gitveil-bot', '.github/VOUCHED.td': '-gitveil-bot' };
    expect((await read(both)).standing).toMatchObject({ kind: 'vouched', path: 'VOUCHED.td' });
    const one = { '.github/VOUCHED.td': '-gitveil-bot' };
    expect((await read(one)).standing).toMatchObject({ kind: 'denounced', path: '.github/VOUCHED.td' });
    expect(await read({ 'README.md': '' }, nobody)).toEqual(NO_FILES);
    // Whom it denounces is not known then: what was known last counts.
    await expect(read(one, nobody)).rejects.toThrow('nobody asks');
  });

  it('is read in one go, whatever it holds', () => {
    fc.assert(fc.property(fc.string(), (text) => void vouchedStanding(text, 'bot', 'github')));
    const odd = ['-'.repeat(250_000), ' '.repeat(250_000), 'a:'.repeat(125_000), '\n'.repeat(250_000)];
    for (const text of odd) expect(vouchedStanding(text, 'bot', 'github').kind).toBe('unlisted');
  });
});

describe('a template', () => {
  it.each([
    ['.github/pull_request_template.md', {}],
    ['.github/PULL_REQUEST_TEMPLATE.md', { 'pull_request_template.md': 'not this one' }],
    ['PULL_REQUEST_TEMPLATE', {}],
    ['Pull_Request_Template.txt', { 'docs/pull_request_template.md': 'not this one' }],
    ['docs/pull_request_template.md', {}],
  ])('is found as %s', async (path, others) => {
    expect((await read({ [path]: 'Why?', ...others })).template).toBe(path);
  });

  it.each(['.github/', '', 'docs/'])('may be one of several, in a folder in "%s"', async (above) => {
    const files = { [`${above}PULL_REQUEST_TEMPLATE/fix.md`]: 'Why?' };
    expect((await read(files)).template).toBe(`${above}PULL_REQUEST_TEMPLATE/`);
  });

  it.each(['pull_request_template.md.bak', 'src/pull_request_template.md', 'my_pull_request_template.md'])(
    'is not %s',
    async (path) => expect((await read({ [path]: '' })).template).toBeNull(),
  );
});

it('finds the guidelines, and asks for one thing at most after two lists', async () => {
  const files = { 'CONTRIBUTING.md': '', '.github/SECURITY.md': '', 'docs/guide.md': '', '.gitmodules': '' };
  expect(await read(files)).toEqual({
    ...NO_FILES,
    contributing: 'CONTRIBUTING.md',
    security: '.github/SECURITY.md',
    hasSubmodules: true,
  });
  const all = repository({ ...files, 'VOUCHED.td': '' });
  await readCommunityFiles(all, 'github', async () => 'bot');
  expect(all.asked).toEqual(['/', '.github/', 'VOUCHED.td', 'gates']);
  const without = repository(files);
  await readCommunityFiles(without, 'github', async () => 'bot');
  expect(without.asked).toEqual(['/', '.github/', 'docs/', 'gates']);
});

it('fails as a whole where the host does not answer, so that nobody takes silence for consent', async () => {
  const silent = { ...repository({ 'VOUCHED.td': '-bot' }), file: () => Promise.reject(new Error('down')) };
  await expect(readCommunityFiles(silent, 'github', async () => 'bot')).rejects.toThrow('down');
});

it('can be read by a service without a bot account, which opens no pull request', async () => {
  const files = repository({ 'VOUCHED.td': '-bot' });
  const { standing: found } = await readCommunityFiles(files, 'github', async () => null);
  expect(found).toMatchObject({ kind: 'unreadable', reason: 'this service has no bot account' });
});

const WORKFLOW = '.github/workflows/vouch.yml';
/** A workflow with vouch's action for pull requests or issues, with such inputs. */
const vouched = (of: 'pr' | 'issue', ...inputs: string[]) =>
  `on:\n  ${of === 'pr' ? 'pull_request_target' : 'issues'}:\njobs:\n  check:\n    steps:\n      - uses: mitchellh/vouch/action/check-${of}@v1\n        with:\n${inputs.map((line) => `          ${line}\n`).join('')}`;

async function gate(list: string, workflow: string, of: 'pull_requests' | 'issues' = 'pull_requests') {
  const policy = withCommunity(OPEN_POLICY, await read({ 'VOUCHED.td': list, [WORKFLOW]: workflow }));
  return policyRefusal(policy, REPOSITORY, of) ?? vouchGate(REPOSITORY, policy, of);
}

describe("vouch's own workflow", () => {
  it('that closes only what is denounced is no gate for the bot', async () => {
    expect(await gate('alice', vouched('pr', 'require-vouch: "false"', 'auto-close: true'))).toBeNull();
  });

  it('that closes all others is sure to close what the bot opens', async () => {
    expect(await gate('alice', vouched('pr', 'auto-close: true'))).toEqual({
      sentence:
        'The .github/workflows/vouch.yml of octo/hello closes pull requests of accounts that are not vouched for, and Gitveil-Bot is not in VOUCHED.td. A maintainer vouches with a line "Gitveil-Bot" there.',
      isSure: true,
    });
    expect(await gate('alice', vouched('pr', 'auto-close: true', 'dry-run: true'))).toMatchObject({
      isSure: false,
    });
    expect(await gate('gitveil-bot', vouched('pr', 'auto-close: true'))).toBeNull();
  });

  it('for issues is told there, and closes them to a bot that is denounced', async () => {
    expect(await gate('alice', vouched('issue', "auto-close: 'true'"), 'issues')).toMatchObject({
      sentence: expect.stringContaining('closes issues of accounts') as string,
      isSure: true,
    });
    expect(await gate('alice', vouched('pr', 'auto-close: true'), 'issues')).toBeNull();
    expect(await gate('-gitveil-bot spam', vouched('issue', 'auto-close: true'), 'issues')).toBe(
      'octo/hello takes no issues of the bot: its VOUCHED.td denounces it.\nIts maintainers write: "spam"',
    );
  });
});

it('keeps issues and comments open where the bot is denounced', async () => {
  const policy = withCommunity(OPEN_POLICY, await read({ 'VOUCHED.td': '-gitveil-bot' }));
  expect(policy.accepted).toEqual(['issues', 'comments']);
});
