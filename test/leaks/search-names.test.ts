/** The search of one push: who is searched for, what it takes, and what it says of gaps. */
import { describe, expect, it } from 'vitest';
import { oidNumber, treeContent } from '../support/objects.ts';
import { type Entry, makeDelta, oidOf } from '../support/pack-builder.ts';
import { LIKELY, PROVEN } from '../support/made-up-credentials.ts';
import { CountedMemory } from '../support/counted-memory.ts';
import { search } from '../support/name-searching.ts';

const REFUSED = 'your name would become public';
const ADA = 'Ada Lovelace <ada@x.example>';

const tree = (name: string, content: string): Entry => ({
  type: 'tree',
  content: treeContent([{ name, oid: oidOf('blob', Buffer.from(content)) }]),
});
const blob = (text: string): Entry => ({ type: 'blob', content: Buffer.from(text) });

describe('a push that names its author', () => {
  const files = [blob('by Ada Lovelace\n')];

  it('is refused, unless that is wanted, or only warned of', async () => {
    await expect(search({ authors: [ADA], files })).resolves.toMatchObject({ refusal: REFUSED });
    for (const allowed of [
      { options: { publishNames: true } },
      { options: { preview: true } },
      { identityCheck: 'warn' },
    ] as const) {
      const { lines } = await search({ authors: [ADA], files, ...allowed });
      expect(lines).toContain('  a changed file: by Ada Lovelace');
    }
    expect((await search({ authors: [ADA], files, identityCheck: 'off' })).lines).toEqual([]);
  });

  it('in its options or its messages is refused, too', async () => {
    await expect(search({ authors: [ADA], options: { title: 'By Ada Lovelace' } })).resolves.toMatchObject({
      refusal: REFUSED,
    });
    await expect(search({ authors: [ADA], message: 'By Ada Lovelace\n' })).resolves.toMatchObject({
      refusal: REFUSED,
    });
  });
});

describe('what another author than the newest commit’s is called by', () => {
  const authors = ['Bob Byron <bob@x.example>', ADA];

  it('is not “your name”', async () => {
    const others = search({ authors, message: 'As Bob Byron says\n' });
    await expect(others).resolves.toMatchObject({
      refusal: 'the name of another author would become public',
    });
    const both = search({ authors, message: 'By Bob Byron\nand Ada Lovelace\n' });
    await expect(both).resolves.toMatchObject({ refusal: REFUSED });
    const { lines } = await search({
      authors,
      files: [blob('by Bob Byron\n')],
      options: { preview: true },
    });
    expect(lines[0]).toBe(
      'The name or address of an author other than the newest commit’s would become public:',
    );
  });
});

it('tells of what looks like a strange commit in a message, a title and a description', async () => {
  for (const more of [{ message: 'See c0ffee1\n' }, { options: { description: 'See c0ffee1' } }])
    expect((await search({ authors: [ADA], ...more })).lines.join('\n')).toMatch(
      /^These look like ids.*\n.*c0ffee1$/,
    );
});

it('tells of the day of a strange commit that Git has written beside its id', async () => {
  const message = 'Undo\n\nThis reverts commit c0ffee1 (Add r, 2009-02-13).\n';
  const { lines } = await search({ authors: [ADA], message });
  expect(lines).toContain('  a message: This reverts commit c0ffee1 (Add r, 2009-02-13)');
});

describe('a push that holds a credential', () => {
  const proven = PROVEN['of GitHub']?.() ?? '';
  const likely = LIKELY['of GitLab']?.() ?? '';
  const told =
    'This looks like a credential, by which its issuer knows you. Check it before it becomes public:';

  it('is refused where it is proven to be one, and can be published on purpose', async () => {
    const files = [blob(proven), tree('deploy.sh', proven)];
    await expect(search({ authors: [ADA], files })).resolves.toMatchObject({
      refusal: 'a credential would become public',
    });
    await expect(search({ authors: [ADA], message: `Use ${proven}\n` })).resolves.toMatchObject({
      refusal: 'a credential would become public',
    });
    const { lines } = await search({ authors: [ADA], files, options: { publishNames: true } });
    expect(lines.slice(0, 2)).toEqual([
      'A credential would become public:',
      `  deploy.sh: a token of GitHub (${proven.slice(0, 12)}…)`,
    ]);
    expect(lines.join()).not.toContain(proven);
  });

  it.each([
    ['looks like one', 'deploy.sh', likely],
    ['belongs to a test', 'token.test.ts', proven],
    ['stands in a file that cannot be named', '', proven],
  ])('is only warned of where it %s', async (_, name, text) => {
    const files = name === '' ? [blob(text)] : [blob(text), tree(name, text)];
    expect((await search({ authors: [ADA], files })).lines.slice(0, 1)).toEqual([told]);
    await expect(search({ authors: [ADA], files, pushSecrets: 'refuse' })).resolves.toMatchObject({
      refusal: 'a credential would become public',
    });
  });
});

it('holds a credential that is no example if a copy of the file is none', async () => {
  const proven = PROVEN['of GitHub']?.() ?? '';
  const names = ['tests.sh', 'x.sh'].map((name) => ({ name, oid: oidOf('blob', Buffer.from(proven)) }));
  const files: Entry[] = [blob(proven), { type: 'tree', content: treeContent(names) }];
  await expect(search({ authors: [ADA], files })).resolves.toMatchObject({
    refusal: 'a credential would become public',
  });
});

it('tells of a login in the name of a file or folder that has the content of upstream’s', async () => {
  const authors = ['contributor <7+lovelace@users.noreply.github.com>'];
  const lovelace = tree('lovelace.md', 'as in README.md');
  expect((await search({ authors, files: [lovelace] })).lines).toContain('  name of a file: lovelace.md');
});

describe('a push that holds a name or login of one word', () => {
  const authors = ['contributor <7+lovelace@users.noreply.github.com>'];
  const told = [
    'A name or login may become public. Check whether these lines name you:',
    '  title: For a contributor',
    '  message of "By lovelace": By lovelace',
    expect.stringMatching(/^  a changed file: Any Contributor may/),
  ];
  const files = [blob('Welcome!\nAny Contributor may ask\n')];
  const pushed = { authors, files, message: 'By lovelace\n' };
  const options = { title: 'For a contributor' };

  it('is only warned of', async () => {
    const { lines, refusal } = await search({ ...pushed, options });
    expect(lines).toEqual(told);
    expect(refusal).toBeNull();
  });

  it('says so in a preview, which would not be refused', async () => {
    const { lines, refusal } = await search({ ...pushed, options: { ...options, preview: true } });
    expect(lines).toEqual([expect.stringMatching(/^The service searched for .*contributor/), ...told]);
    expect(refusal).toBeNull();
  });

  it('is refused for a full name or an address all the same, and says both', async () => {
    const message = 'By lovelace, that is Ada Lovelace\n';
    const refused = await search({ authors: [...authors, ADA], message });
    expect(refused.refusal).toBe(REFUSED);
    expect(refused.lines).toContain(told[0]);
    const address = { authors, message: 'By 7+lovelace@users.noreply.github.com\n' };
    await expect(search(address)).resolves.toMatchObject({ refusal: REFUSED });
  });
});

describe('a refusal', () => {
  it('says where, that nothing was sent, two ways on, and then what was searched for', async () => {
    const authors = ['Max <max@x.example>', ADA];
    const refused = await search({ authors, files: [blob('by Ada Lovelace\n')] });
    expect(refused.lines).toEqual([
      'Your name or address would become public:',
      '  a changed file: by Ada Lovelace',
      'Nothing of this push was sent.',
      expect.stringMatching(/^Remove it and push again: "git commit --amend"/),
      'To publish it anyway, add: -o publish-names',
      'The service searched for ada@x.example, Ada Lovelace and max@x.example. It did not search for Max (one short word).',
    ]);
  });
});

it('a refusal of a delayed push says that nothing was compared, and not that the host was asked', async () => {
  const authors = [ADA];
  const files = [blob('by Ada Lovelace\n'), tree('a', 'by Ada Lovelace\n')];
  const linesOf = async (isQuiet: boolean) => {
    const { lines } = await search({ authors, files, isQuiet });
    return lines.join();
  };
  expect(await linesOf(false)).toMatch(/sent\. To search, the service has read/);
  const quiet = await linesOf(true);
  expect(quiet).toMatch(/not compared with upstream’s files.*Nothing of this push was sent\.,/);
  expect(quiet).not.toContain('has read');
});

describe('a merge', () => {
  const message = "Merge branch 'main' of ../m2 into topic-acme-corp-1234\n";

  it('that names what is not upstream’s is refused, with the command that drops it', async () => {
    const { refusal, lines } = await search({ authors: [ADA], message });
    expect(refusal).toBe('names of your branches or remotes would become public');
    expect(lines).toContain(`  ${message.trim()}`);
    expect(lines).toContain('  git pull --rebase https://service.test/v1/gh/octo/hello main');
    expect(lines.at(-2)).toContain('-o publish-names');
    const published = await search({ authors: [ADA], message, options: { publishNames: true } });
    expect(published.refusal).toBeNull();
    expect(published.lines).toContain(`  ${message.trim()}`);
  });
});

describe('a preview', () => {
  it('says whether the push would be refused, and by what', async () => {
    const preview = { preview: true };
    const named = { authors: [ADA], message: 'By Ada Lovelace\n' };
    expect((await search({ ...named, options: preview })).refusal).toBe(REFUSED);
    expect((await search({ ...named, options: { ...preview, publishNames: true } })).refusal).toBeNull();
    expect((await search({ ...named, options: preview, identityCheck: 'warn' })).refusal).toBeNull();
    expect((await search({ authors: [ADA], options: preview })).refusal).toBeNull();
  });

  it('does not say that nothing was found where not all was searched for', async () => {
    const authors = ['Max <ada@example.org>', 'Max <max>'];
    expect((await search({ authors, options: { preview: true } })).lines).toEqual([
      'The service found none of the words that it searched for.',
      'The service searched for ada@example.org. It did not search for max (no address) and Max (one short word).',
    ]);
    expect((await search({ authors })).lines).toEqual([]);
  });

  it('says that nothing was found, or that there was nobody to search for', async () => {
    const options = { preview: true };
    expect((await search({ authors: [ADA], options })).lines[0]).toMatch(/found no name or address/);
    expect((await search({ authors: [ADA], options })).lines[1]).toBe(
      'The service searched for ada@x.example and Ada Lovelace.',
    );
    expect((await search({ authors: ['bot <bot@x.example>'], options })).lines[0]).toBe(
      'The commits name nobody, so the service searched for no name. Check them yourself.',
    );
  });

  it('and a push say so if there is a name, but none that can be searched for', async () => {
    for (const preview of [true, false])
      expect((await search({ authors: ['Max <->'], options: { preview } })).lines).toEqual([
        'The commits name only - (no address) and Max (one short word), so the service searched for no name. Check them yourself.',
      ]);
  });
});

describe('the names to search for', () => {
  it('are first those of the pushed commit, if there are too many', async () => {
    const others = Array.from({ length: 1_000 }, (_, at) => `Person Number${at} <person${at}@x.example>`);
    const options = { title: 'By Ada Lovelace', publishNames: true };
    const { lines } = await search({ authors: [...others, ADA], options });
    expect(lines).toContain('  title: By Ada Lovelace');
    expect(lines.join()).toContain('more people than the service can search for');
  });

  it('are counted in memory while they are searched for', async () => {
    const memory = new CountedMemory();
    await search({ authors: [ADA], memory });
    expect(memory.mostBytes).toBeGreaterThan(10_000);
    expect(memory.bytes).toBe(0);
  });
});

const unsearched = (kinds: string): string =>
  `Not searched further for ${kinds}: there is too much to look at. Check the rest yourself: git log -p HEAD --not --remotes`;

describe('a push with more places that look like something than are looked at', () => {
  const urls = Array.from({ length: 2_000 }, (_, at) => `git://ada:lovelace${at}@git.org/x\n`).join('');

  it.each([
    ['a password in an address', urls],
    ['home folders', '/home/ada/\n'.repeat(1_001)],
    ['names and logins of one word', 'a contributor\n'.repeat(1_001)],
  ])('says so, and what it was not searched for: %s', async (kind, text) => {
    const authors = ['contributor <contributor@x.example>'];
    expect((await search({ authors, files: [blob(text)] })).lines).toContain(unsearched(kind));
  });

  it.each([
    ['home folders', '/home/ada/ '.repeat(1_001)],
    ['commits that Git has named in messages', strange(101)],
    ['ids of commits in messages', Array.from({ length: 101 }, (_, at) => `a${1_000_000 + at} `).join('')],
    ['days of commits in messages', ', 2024-01-01)'.repeat(1_001)],
  ])('says so, and what its messages were not searched for: %s', async (kind, message) => {
    const { lines } = await search({ authors: [ADA], message, options: { publishNames: true } });
    expect(lines).toContain(unsearched(kind));
  });

  it('names all kinds in one line, also in a preview, where nothing else was found', async () => {
    const files = [blob('/home/node/\n'.repeat(1_001))];
    const message = ', 2024-01-01)'.repeat(1_001);
    expect((await search({ authors: [ADA], files, message, options: { preview: true } })).lines).toEqual([
      'The service found none of the words that it searched for.',
      'The service searched for ada@x.example and Ada Lovelace.',
      unsearched('days of commits in messages and home folders'),
    ]);
  });

  it('is refused all the same for what was found before, or is of another kind', async () => {
    const secret = PROVEN['of GitHub']?.() ?? '';
    const text = `${urls}KEY=${secret}\n`;
    const { refusal, lines } = await search({
      authors: [ADA],
      files: [blob(text), tree('deploy.sh', text)],
    });
    expect(refusal).toBe('a credential would become public');
    expect(lines).toContain(unsearched('a password in an address'));
    const named = await search({ authors: [ADA], files: [blob(`by Ada Lovelace\n${urls}`)] });
    expect(named.refusal).toBe(REFUSED);
  });

  it('is said nothing of where a place is no more than a beginning', async () => {
    const text = 'see https://example.org:8080/a and ssh://git@host/x, AKIA AAAA ghp_ -----BEGIN CERT\n';
    const files = [blob(text.repeat(5_000))];
    expect((await search({ authors: [ADA], files, message: text.repeat(5_000) })).lines).toEqual([]);
  });
});

/** Messages of Git that name so many commits that nobody has. */
function strange(count: number): string {
  return Array.from({ length: count }, (_, at) => `This reverts commit ${oidNumber(at + 1)}.\n`).join('');
}

describe('a gap', () => {
  it('is told: a file that cannot be searched because upstream’s part of it cannot be had', async () => {
    const base = Buffer.from('color: black;\n'.repeat(20));
    const result = Buffer.from('color: black;\n'.repeat(19) + 'color: Pau;\n');
    const delta: Entry = { type: 'ref-delta', base: oidNumber(9), delta: makeDelta(base, result) };
    const { lines } = await search({ authors: ['Paul White <paul@x.example>'], files: [delta] });
    expect(lines).toEqual([
      'The service could not search all of the changed files for names. Check them for yours.',
    ]);
  });
});
