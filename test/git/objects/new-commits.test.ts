/** Which commits are the pusher's: histories of every shape against upstream's listed part. */
import { describe, expect, it } from 'vitest';
import { type KnownHistory, traceNewCommits } from '../../../src/git/objects/new-commits.ts';
import { commitContent, oidNumber } from '../../support/objects.ts';
import { storeOf } from '../../support/new-commits.ts';
import { oidOf } from '../../support/pack-builder.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const SINCE = 1_600_000_000;
const RECENT = SINCE + 1000;
const OLD = SINCE - 1000;

/** A pack of commits by name, each with its parents' names or ids, and its date. */
class Pack {
  readonly contents = new Map<string, Uint8Array>();
  readonly oids = new Map<string, string>();
  finds = 0;

  commit(name: string, parents: readonly string[] = [], committedAt = RECENT, headers = ''): this {
    const content = commitContent({
      headers,
      parents: parents.map((parent) => this.oids.get(parent) ?? parent),
      committer: `C <c@example.org> ${committedAt} +0000`,
      message: name,
    });
    const oid = oidOf('commit', content);
    this.oids.set(name, oid);
    this.contents.set(oid, content);
    return this;
  }

  #find(oid: string): Uint8Array | undefined {
    this.finds += 1;
    return this.contents.get(oid);
  }

  trace(tip: string, known: KnownHistory) {
    const trace = traceNewCommits(
      this.oids.get(tip) ?? tip,
      storeOf((oid) => this.#find(oid)),
      known,
    );
    return trace.kind === 'complete'
      ? {
          commits: Array.from(trace.commits, ({ commit }) => Buffer.from(commit.message).toString()),
          boundary: [...trace.boundary],
        }
      : trace.kind;
  }
}

const UP = oidNumber(1);
const UP_OLDER = oidNumber(2);
/** Not listed, but the parent of a listed commit, or the tip of another branch. */
const BORDER = oidNumber(3);
const STRANGER = oidNumber(4);

function history(
  since = SINCE,
  listed: readonly string[] = [UP, UP_OLDER],
  othersSince = -Infinity,
): KnownHistory {
  return {
    since,
    othersSince,
    isListed: (oid) => listed.includes(oid),
    isKnown: (oid) => listed.includes(oid) || oid === BORDER,
  };
}

describe('traceNewCommits', () => {
  it(
    'takes a merge of 999 commits, and refuses one of 1,000 or more, also of one commit again and again',
    exhaustive,
    () => {
      const merge = (parents: number) =>
        new Pack().commit('merge', Array(parents).fill(UP)).trace('merge', history());
      expect(merge(999)).toEqual({ commits: ['merge'], boundary: [UP] });
      for (const parents of [1_000, 200_000]) expect(() => merge(parents)).toThrow(/1,000 commits or more/);
    },
  );

  it('takes a hundred names of encodings, and refuses more: each is looked up', () => {
    const pack = new Pack();
    for (let at = 0; at < 102; at++)
      pack.commit(`${at}`, [at === 0 ? UP : `${at - 1}`], RECENT, `encoding latin${at % 101}\n`);
    expect(pack.trace('99', history())).toMatchObject({ boundary: [UP] });
    expect(() => pack.trace('101', history())).toThrow('more than 100 character encodings');
  });

  it('finds a chain on upstream, parents before children', () => {
    const pack = new Pack().commit('a', [UP]).commit('b', ['a']).commit('c', ['b']);
    expect(pack.trace('c', history())).toEqual({ commits: ['a', 'b', 'c'], boundary: [UP] });
  });

  it('finds nothing new when upstream has the tip', () => {
    expect(new Pack().trace(UP, history())).toEqual({ commits: [], boundary: [UP] });
    expect(new Pack().trace(BORDER, history())).toEqual({ commits: [], boundary: [BORDER] });
  });

  it('leaves out what upstream has, though the pack holds it, and all below it', () => {
    const pack = new Pack()
      .commit('theirs-1', [UP_OLDER])
      .commit('theirs-2', ['theirs-1'])
      .commit('mine', ['theirs-2']);
    const theirs = [pack.oids.get('theirs-1'), pack.oids.get('theirs-2')] as string[];
    expect(pack.trace('mine', history(SINCE, theirs))).toEqual({ commits: ['mine'], boundary: [theirs[1]] });
  });

  it('ignores commits that the tip does not reach', () => {
    const pack = new Pack().commit('a', [UP]).commit('other', [STRANGER]);
    expect(pack.trace('a', history())).toEqual({ commits: ['a'], boundary: [UP] });
  });

  it('takes both sides of a merge, and upstream merged in between', () => {
    const pack = new Pack()
      .commit('left', [UP_OLDER])
      .commit('right', [UP_OLDER])
      .commit('merge', ['left', 'right', UP]);
    const trace = pack.trace('merge', history());
    expect(trace).toMatchObject({ boundary: expect.arrayContaining([UP, UP_OLDER]) as string[] });
    expect(trace).toMatchObject({ commits: expect.arrayContaining(['left', 'right']) as string[] });
    expect(trace).toHaveProperty('commits.2', 'merge');
  });

  it('takes each commit of a criss-cross once, parents first', () => {
    const pack = new Pack().commit('a0', [UP]).commit('b0', [UP]);
    for (let i = 1; i <= 30; i++) {
      pack.commit(`a${i}`, [`a${i - 1}`, `b${i - 1}`]).commit(`b${i}`, [`b${i - 1}`, `a${i - 1}`]);
    }
    pack.commit('tip', ['a30', 'b30']);
    const trace = pack.trace('tip', history());
    const commits = typeof trace === 'string' ? [] : trace.commits;
    expect(commits).toHaveLength(63);
    expect(new Set(commits).size).toBe(63);
    const position = new Map(commits.map((name, index) => [name, index]));
    for (let i = 1; i <= 30; i++)
      expect(position.get(`a${i}`)).toBeGreaterThan(position.get(`b${i - 1}`) as number);
    // Linear: 2^30 paths lead through this history.
    expect(pack.finds).toBe(63);
  });

  it('follows a chain deeper than any stack', exhaustive, () => {
    const pack = new Pack().commit('0', [UP]);
    for (let i = 1; i < 15_000; i++) pack.commit(String(i), [String(i - 1)]);
    expect(pack.trace('14999', history())).toMatchObject({ boundary: [UP] });
    expect(pack.finds).toBe(15_000);
  });

  it('takes a merge of a commit with itself for what it is', () => {
    const pack = new Pack().commit('a', [UP]).commit('twice', ['a', 'a', UP, UP]);
    expect(pack.trace('twice', history())).toEqual({ commits: ['a', 'twice'], boundary: [UP] });
  });

  describe('without proof', () => {
    it.each([
      ['the tip itself is in neither place', (pack: Pack) => pack.trace(STRANGER, history())],
      ['a parent is in neither place', (pack: Pack) => pack.commit('a', [STRANGER]).trace('a', history())],
      [
        'one of many parents is in neither place',
        (pack: Pack) => pack.commit('a', [UP]).commit('m', ['a', UP, STRANGER]).trace('m', history()),
      ],
      [
        'a deep ancestor is in neither place',
        (pack: Pack) =>
          pack.commit('a', [STRANGER]).commit('b', ['a']).commit('c', ['b', UP]).trace('c', history()),
      ],
    ])('stops when %s', (_, trace) => {
      expect(trace(new Pack())).toBe('unproven');
    });
  });

  describe('where the listed period begins', () => {
    it('asks for more when an old commit stands on an old boundary', () => {
      const pack = new Pack().commit('old', [BORDER], OLD).commit('mine', ['old']);
      expect(pack.trace('mine', history())).toBe('reaches-back');
    });

    it('asks for more when the root of the pack is old: it may be the root of upstream', () => {
      const pack = new Pack().commit('root', [], OLD).commit('mine', ['root']);
      expect(pack.trace('mine', history())).toBe('reaches-back');
    });

    it('asks for more when an old commit in the middle of an old boundary hides behind young ones', () => {
      const pack = new Pack()
        .commit('young', [BORDER])
        .commit('old', ['young'], OLD)
        .commit('mine', ['old', UP]);
      expect(pack.trace('mine', history())).toBe('reaches-back');
    });

    it('takes young commits on an old boundary for new', () => {
      const pack = new Pack().commit('mine', [BORDER]);
      expect(pack.trace('mine', history())).toEqual({ commits: ['mine'], boundary: [BORDER] });
    });

    it('believes no date of 1970 on a listed boundary: some people hide theirs', () => {
      const pack = new Pack().commit('a', [UP], 0).commit('b', ['a'], 0);
      expect(pack.trace('b', history())).toEqual({ commits: ['a', 'b'], boundary: [UP] });
    });

    it('asks for more for dates of 1970 on an old boundary, and ends when there is no more', () => {
      const pack = new Pack().commit('a', [BORDER], 0).commit('root', [], 0).commit('m', ['a', 'root'], 0);
      expect(pack.trace('m', history())).toBe('reaches-back');
      expect(pack.trace('m', history(-Infinity))).toMatchObject({ boundary: [BORDER] });
    });

    it('says unproven rather than reaching back when both are true', () => {
      const pack = new Pack().commit('old', [BORDER], OLD).commit('mine', [STRANGER, 'old']);
      expect(pack.trace('mine', history())).toBe('unproven');
    });
  });

  it('refuses a malformed commit on the way', () => {
    const broken = Buffer.from('tree nothing\n\n');
    const oid = oidOf('commit', broken);
    expect(() =>
      traceNewCommits(
        oid,
        storeOf(() => broken),
        history(),
      ),
    ).toThrow(expect.objectContaining({ code: 'bad-pack' }));
  });

  it('looks further back on other branches for a commit older than what is listed of them, wherever it stands', () => {
    const pack = new Pack().commit('old', [UP], OLD).commit('mine', ['old']);
    expect(pack.trace('mine', history(SINCE, [UP], SINCE))).toBe('reaches-back-on-others');
    expect(pack.trace('mine', history(SINCE, [UP], OLD - 1))).toMatchObject({ commits: ['old', 'mine'] });
    expect(pack.trace('mine', history(SINCE, [UP]))).toMatchObject({ commits: ['old', 'mine'] });
  });
});
