/** Dates, and so ids, that commits keep; and many commits that become one. */
import { describe, expect, it } from 'vitest';
import { COMMIT_HASH_BYTES, type DatedCommits } from '../../src/durable/pull-request/record.ts';
import { parseCommit } from '../../src/git/commit.ts';
import { squashedMessage } from '../../src/push/proposal.ts';
import { type RewritePlan, rewriteHistory } from '../../src/push/rewriting.ts';
import { type CommitFields, commitContent, oidNumber, PRIVATE_WORDS } from '../support/objects.ts';
import { oidOf } from '../support/pack-builder.ts';

const UPSTREAM = oidNumber(1);
const GROUND = new Set([UPSTREAM]);
const FIRST_PUSH = 1_800_000_000;
const PLAN: RewritePlan = {
  identity: { name: 'bot', email: 'bot@example.invalid' },
  committedAt: FIRST_PUSH,
  known: [],
  squash: null,
};

function newCommit(fields: CommitFields) {
  const content = commitContent(fields);
  return { oid: oidOf('commit', content), commit: parseCommit(content) };
}

/** A line of commits on upstream, oldest first. */
function line(...messages: string[]) {
  const commits: ReturnType<typeof newCommit>[] = [];
  for (const message of messages) {
    commits.push(newCommit({ parents: [commits.at(-1)?.oid ?? UPSTREAM], message }));
  }
  return commits;
}

function rewrite(commits: ReturnType<typeof line>, plan: Partial<RewritePlan> = {}, ground = GROUND) {
  const { history, contents } = rewriteHistory({ ...PLAN, ...plan }, commits, ground);
  return { ...history, contents, ids: contents.map((content) => oidOf('commit', content)) };
}

const count = ({ commitHashes }: DatedCommits) => commitHashes.byteLength / COMMIT_HASH_BYTES;

describe('a pull request that is pushed again', () => {
  const first = rewrite(line('one', 'two'));
  const later = { committedAt: FIRST_PUSH + 3_600, known: [first.dates()] };

  it('keeps the ids of what it had, and dates what is new', () => {
    const second = rewrite(line('one', 'two', 'three'), later);
    expect(second.ids.slice(0, 2)).toEqual(first.ids);
    expect(count(first.dates())).toBe(2);
    expect(count(second.dates())).toBe(1);
    expect(second.dates().committedAt).toBe(later.committedAt);
  });

  it('changes the ids of what stands on a commit that has changed', () => {
    const amended = rewrite(line('ONE', 'two'), later);
    expect(amended.ids.some((id) => first.ids.includes(id))).toBe(false);
  });

  it('keeps the first date of a commit that was written down twice', () => {
    const again = { ...first.dates(), committedAt: FIRST_PUSH + 60 };
    expect(rewrite(line('one', 'two'), { ...later, known: [first.dates(), again] }).ids).toEqual(first.ids);
  });

  it('tells nobody whether they have guessed who wrote it, and when: neither matters', () => {
    const [original] = line('one') as [ReturnType<typeof newCommit>];
    const guess = { ...original, oid: oidNumber(99) };
    expect(rewrite([guess]).dates()).toEqual(rewrite([original]).dates());
    expect(rewrite([guess], later).tip).toBe(rewrite([original], later).tip);
    expect(rewrite([guess], later).tip).toBe(first.ids[0]);
  });
});

function squash(title: string | null, description: string | null) {
  const plan = { squash: squashedMessage.bind(null, { title, description }) };
  return rewrite(line('one', 'two\n\nText.\n'), plan);
}

describe('squashing', () => {
  it('leaves one commit: the tip, on upstream', () => {
    const { contents, commitCount, dates } = squash(null, null);
    expect(contents).toHaveLength(1);
    expect([commitCount, count(dates())]).toEqual([1, 1]);
    const { parents, message } = parseCommit(contents[0] as Uint8Array);
    expect(parents).toEqual([UPSTREAM]);
    expect(Buffer.from(message).toString()).toBe('two\n\nText.\n');
    const all = Buffer.concat(contents).toString('latin1');
    for (const word of PRIVATE_WORDS) expect(all).not.toContain(word);
  });

  it.each([
    ['All', null, 'All\n\nText.\n'],
    [null, 'Why.', 'two\n\nWhy.\n'],
    ['All', '', 'All\n'],
  ])('takes title %j and description %j into its message', (title, description, message) => {
    const { contents } = squash(title, description);
    expect(Buffer.from(parseCommit(contents[0] as Uint8Array).message).toString()).toBe(message);
  });

  it.each([[[]], [[UPSTREAM, oidNumber(2)]]])('is refused on the ground %j', (ground) => {
    const plan = { squash: squashedMessage.bind(null, { title: null, description: null }) };
    expect(() => rewrite(line('one'), plan, new Set(ground))).toThrow('cannot be squashed');
  });
});
