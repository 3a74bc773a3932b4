/**
 * Tells of a push that would name its author. Its files: test/git/search; real pushes: test/e2e.
 */
import { describe, expect, it } from 'vitest';
import { SearchedNames } from '../../src/git/search/searched-names.ts';
import { adviceOf, FoundLeaks } from '../../src/leaks/findings.ts';
import { linesOf } from '../../src/words/finding.ts';
import { commitContent, oidNumber } from '../support/objects.ts';
import { workOf } from '../support/work-meter.ts';

/** Searches a message as all of a push are. */
function addMessage(findings: FoundLeaks, message: Uint8Array): void {
  findings.addMessage(message);
  findings.addSaidByPrograms(message, NO_MERGES);
}

const NO_MERGES = () => [];
const ID = `Change-Id: I${'0123456789'.repeat(4)}`;

/** @param author of the one commit. */
function namesOf(author: string | null, originalIds: readonly string[] = []): SearchedNames {
  const committer = 'bot <bot@x.example> 1 +0000';
  const content = commitContent({ author: `${author ?? 'bot <bot@x.example>'} 1 +0000`, committer });
  const headers = [{ content, encoding: null }];
  return new SearchedNames({ headers, originalIds, nobodys: ['bot', 'bot@x.example'] });
}

const findingsFor = (...named: Parameters<typeof namesOf>): FoundLeaks => new FoundLeaks(namesOf(...named));

describe('texts', () => {
  it('are told of with the line that names somebody, ids of own commits left out', () => {
    const findings = findingsFor('Ada Lovelace <ada@x.example>', [oidNumber(7)]);
    findings.addText(() => 'title', Buffer.from('A change by Ada Lovelace'));
    findings.addText(() => 'description', Buffer.from(`Reverts ${oidNumber(7)}`));
    addMessage(findings, Buffer.from('One\n\nsome text\nby ada_lovelace, as ever\n'));
    expect(findings.lines).toEqual([
      '  title: A change by Ada Lovelace',
      '  message of "One": by ada_lovelace, as ever',
    ]);
    expect(findings.leaks.map(({ reason }) => reason)).toEqual(['your name would become public']);
  });
});

describe('a line of megabytes', () => {
  const long = 'words '.repeat(1_500_000);

  it('is shown as far as it is near, and decoded once, however much is found in it', async () => {
    const findings = findingsFor('Ada Lovelace <ada@x.example>');
    const message = Buffer.from(`${`${ID} `.repeat(10)}by Ada Lovelace ${long}`);
    const { bytes } = await workOf(() => addMessage(findings, message));
    expect(findings.lines).toHaveLength(10);
    expect(bytes).toBeLessThan(message.length + 100_000);
  });

  it('is cut between characters', () => {
    const findings = findingsFor('Ada Lovelace <ada@x.example>');
    findings.addText(() => 'title', Buffer.from(`Ada Lovelace ${'\u{1f600}'.repeat(1_000)}`));
    expect(findings.lines[0]).toMatch(/^ {2}title: Ada Lovelace (?:\u{1f600})+…$/u);
  });
});

describe('a name or login of one word', () => {
  it('is told of apart from the names, and is no leak', () => {
    const findings = findingsFor('Contributor <7+lovelace@users.noreply.github.com>');
    findings.addText(() => 'title', Buffer.from('Thank every contributor'));
    for (const message of ['One\n\nnothing\nLovelace was here\n', 'Two\n'])
      addMessage(findings, Buffer.from(message));
    findings.addWords(['For contributors:', 'Any contributor may'], ['docs/contributor.md', 'README.md']);
    expect(linesOf(findings.likely)).toEqual([
      expect.stringMatching(/^A name or login may/),
      '  title: Thank every contributor',
      '  message of "One": Lovelace was here',
      '  a changed file: For contributors:',
      '  a changed file: Any contributor may',
      '  name of a file: docs/contributor.md',
    ]);
    expect([findings.leaks, findings.lines]).toEqual([[], []]);
  });

  it('is shown up to ten times', () => {
    const findings = findingsFor('Contributor <->');
    findings.addWords(
      Array.from({ length: 99 }, () => 'contributor'),
      [],
    );
    expect(linesOf(findings.likely)).toHaveLength(11);
  });
});

describe('files', () => {
  it('are told of by their paths, and ids apart from names', () => {
    const names = namesOf('Ada Lovelace <ada@x.example>', [oidNumber(7)]);
    const findings = new FoundLeaks(names);
    const excerpt = Buffer.from('some words');
    const [name = -1, id = -1] = names
      .spansIn(Buffer.from(`Ada Lovelace ${oidNumber(7)}`))
      .map(({ text }) => text);
    findings.addHits([
      { excerpt, kind: 'content', text: id, credential: null, paths: ['a.txt'] },
      { excerpt, kind: 'name', text: name, credential: null, paths: [] },
      { excerpt, kind: 'content', text: name, credential: null, paths: [] },
      { excerpt, kind: 'content', text: name, credential: null, paths: ['docs/b.txt'] },
    ]);
    expect(findings.lines).toEqual([
      '  name of a file: some words',
      '  a changed file: some words',
      '  docs/b.txt: some words',
      '  a.txt: the id of a commit of this push: some words',
    ]);
  });
});

describe('commits that nobody has', () => {
  it('are told of by their ids', () => {
    const findings = findingsFor(null);
    findings.addStrangers({ oids: [oidNumber(3)], likely: ['c0ffee1'] }, new Map());
    expect(findings.lines).toEqual([
      `  a message names a commit that upstream does not have: ${oidNumber(3)}`,
    ]);
    expect(linesOf(findings.likely)).toEqual([
      expect.stringMatching(/^These look like ids/),
      '  a message: c0ffee1',
    ]);
  });
});

describe('Change-Ids', () => {
  it('are found where there is nobody to search for, in every line, also the first', () => {
    const findings = findingsFor(null);
    for (const message of [`${ID}\n`, `One\n\n  ${ID}\n> ${ID}`]) addMessage(findings, Buffer.from(message));
    expect(findings.lines).toEqual([
      `  message of "${ID}": ${ID}`,
      `  message of "One": ${ID}`,
      `  message of "One": > ${ID}`,
    ]);
    expect(findings.leaks.map(({ reason }) => reason)).toEqual(['a Change-Id would become public']);
  });

  it('are told of together with a name, each with its advice, the name first', () => {
    const findings = findingsFor('Ada Lovelace <ada@x.example>');
    addMessage(findings, Buffer.from(`By Ada Lovelace\n\n${ID}\n`));
    expect(findings.leaks[0]?.reason).toBe('your name would become public');
    expect(findings.lines).toEqual([
      '  message of "By Ada Lovelace": By Ada Lovelace',
      `  message of "By Ada Lovelace": ${ID}`,
    ]);
    expect(adviceOf(findings.leaks, '').join()).toMatch(/git commit --amend.*gerrit\.createChangeId/);
  });

  it('are shown up to ten times', () => {
    const findings = findingsFor(null);
    addMessage(findings, Buffer.from(`${ID}\n`.repeat(1_000)));
    expect(findings.lines).toHaveLength(10);
  });
});
