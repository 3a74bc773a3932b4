import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/git/bytes.ts';
import { type FilesHost, NO_FILES } from '../../src/policy/community-files.ts';
import { OPEN_POLICY, parsePolicy, type Policy, withWords } from '../../src/policy/policy.ts';
import { reportRefusal, securityFileIn } from '../../src/policy/security-policy.ts';

const TO = { owner: 'octo', name: 'hello' };
const OID = 'a'.repeat(40);

/** Files by their paths, in folders one level deep. */
function filesOf(texts: Readonly<Record<string, string | Uint8Array>>): FilesHost {
  const inFolder = (folder: string) =>
    Object.keys(texts).flatMap((path) => {
      const inside = folder === '' ? path : path.slice(folder.length + 1);
      if (folder !== '' && !path.startsWith(`${folder}/`)) return [];
      const slash = inside.indexOf('/');
      return [slash < 0 ? inside : inside.slice(0, slash + 1)];
    });
  return {
    list: async (folder) => new Map(inFolder(folder).map((name) => [name, OID])),
    async file(path) {
      const text = texts[path];
      if (text === undefined) return { kind: 'missing' };
      return { kind: 'file', content: typeof text === 'string' ? utf8(text) : text };
    },
    readAll: async () => null,
  };
}

describe('the file about vulnerabilities', () => {
  it.each([
    [{ 'SECURITY.md': 'root', '.github/SECURITY.md': 'github' }, '.github/SECURITY.md'],
    [{ 'security.txt': 'root', 'docs/SECURITY.md': 'docs' }, 'security.txt'],
    [{ 'README.md': '', 'docs/Security.md': 'docs' }, 'docs/Security.md'],
  ])('is found where the code host looks for it: %j', async (texts, path) => {
    const found = await securityFileIn(filesOf(texts), TO);
    expect(found).toMatchObject({ kind: 'file', path, repository: TO, isCut: false });
  });

  it('may be missing, no text, or long', async () => {
    expect(await securityFileIn(filesOf({ 'README.md': '' }), TO)).toEqual({ kind: 'none' });
    const bytes = { 'SECURITY.md': new Uint8Array([0xff, 0xfe]) };
    expect(await securityFileIn(filesOf(bytes), TO)).toEqual({ kind: 'unknown' });
    const long = await securityFileIn(filesOf({ 'SECURITY.md': '𝕩'.repeat(20_000) }), TO);
    expect(long).toMatchObject({ kind: 'file', isCut: true });
    expect(long.kind === 'file' && long.text.length).toBe(16 * 1024);
  });
});

const withPolicy = (text: string): Policy => parsePolicy(utf8(text));

describe('a repository', () => {
  it.each<[what: string, policy: Policy]>([
    ['without a policy', OPEN_POLICY],
    ['that takes pull requests alone', withPolicy('accept: [pull_requests]\n')],
    [
      'that muted a thread',
      withWords(OPEN_POLICY, { stoppedAt: null, muted: [{ thread: 1, at: 0 }], isAny: true }),
    ],
  ])('%s takes reports', (_, policy) => expect(reportRefusal(policy, TO)).toBeNull());

  const standing = { kind: 'denounced', path: 'VOUCHED.td', bot: 'bot', reason: null } as const;
  it.each<[what: string, policy: Policy, words: string]>([
    [
      'whose maintainers have said stop',
      withWords(OPEN_POLICY, { stoppedAt: 0, muted: [], isAny: true }),
      'octo/hello accepts nothing from this service. Its maintainers have said stop on 1970-01-01.',
    ],
    ['that accepts nothing', withPolicy('accept: false\n'), 'its .gitveil.yml says so.'],
    ['with a broken policy', withPolicy('what: true\n'), 'until its maintainers correct its .gitveil.yml'],
    [
      'that denounces the bot',
      { ...OPEN_POLICY, community: { ...NO_FILES, standing } },
      'octo/hello takes nothing of the bot: its VOUCHED.td denounces it.',
    ],
  ])('%s gets none', (_, policy, words) => expect(reportRefusal(policy, TO)).toContain(words));
});
