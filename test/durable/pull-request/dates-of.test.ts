/** Dates, and so ids, that commits keep; and many commits that become one. */
import { describe, expect, it, vi } from 'vitest';
import { COMMIT_HASH_BYTES, type DatedCommits } from '../../../src/durable/pull-request/record.ts';
import { AnonymousCommits } from '../../../src/git/objects/anonymize.ts';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { parseCommit } from '../../../src/git/objects/commit.ts';
import { COMMIT_WORK, withIds } from '../../../src/git/objects/planned-commits.ts';
import { planWork } from '../../../src/push/judge/work.ts';
import { datesOf, undatedOf } from '../../../src/durable/pull-request/record.ts';
import { CountedMemory } from '../../support/counted-memory.ts';
import { type CommitFields, commitContent, oidNumber, PRIVATE_WORDS } from '../../support/objects.ts';
import { newCommitOf } from '../../support/new-commits.ts';
import { oidOf } from '../../support/pack-builder.ts';

const UPSTREAM = oidNumber(1);
const BOUNDARY = new Set([UPSTREAM]);
const FIRST_PUSH = 1_800_000_000;
const BOT = { name: 'bot', email: 'bot@example.invalid' };
const PLAN = {
  committedAt: FIRST_PUSH,
  known: [] as readonly DatedCommits[],
  squash: false,
  title: null as string | null,
  description: null as string | null,
  newest: null as string | null,
};

function newCommit(fields: CommitFields) {
  const content = commitContent(fields);
  return newCommitOf(content);
}

/** A line of commits on upstream, oldest first. */
function line(...messages: string[]) {
  const commits: ReturnType<typeof newCommit>[] = [];
  for (const message of messages) {
    commits.push(newCommit({ parents: [commits.at(-1)?.oid ?? UPSTREAM], message }));
  }
  return commits;
}

async function rewrite(
  commits: ReturnType<typeof line>,
  changes: Partial<typeof PLAN> = {},
  boundary: ReadonlySet<string> = BOUNDARY,
) {
  const { committedAt, known, newest, ...options } = { ...PLAN, ...changes };
  const plan = await planWork({ commits, boundary }, options, null, async () => newest, UNCOUNTED);
  const { dateOf, added } = datesOf(undatedOf(plan.commits, BOT), known, committedAt);
  const anonymous = new AnonymousCommits(plan.commits, BOT, dateOf);
  const contents = Array.from(anonymous.contents(), (content) => content.slice());
  return {
    tip: anonymous.tip,
    contents,
    ids: contents.map((content) => oidOf('commit', content)),
    originalIds: commits.map(({ oid }) => oid).filter((oid) => !anonymous.has(oid)),
    dates: added,
    withNewIds: (text: string) =>
      Buffer.from(withIds(plan.planText(Buffer.from(text)), anonymous.idOf)).toString(),
  };
}

const messageOf = (content: Uint8Array | undefined) =>
  Buffer.from(parseCommit(content as Uint8Array).message).toString();

/** A commit, and one that reverts it. */
function withRevert(author: string) {
  const one = newCommit({ parents: [UPSTREAM], message: 'one', author });
  const two = newCommit({ parents: [one.oid], message: `This reverts commit ${one.oid}.\n`, author });
  return [one, two];
}

/** Two lines that are merged by a commit that mentions another. */
function rewriteMerge(committedAt: number) {
  const [one, ...others] = [...line('one', 'two'), ...line('side')];
  const parents = others.map(({ oid }) => oid);
  const commits = [one!, ...others, newCommit({ parents, message: `Merge ${one!.oid}` })];
  return rewrite(commits, { committedAt });
}

const count = ({ commitHashes }: DatedCommits) => commitHashes.byteLength / COMMIT_HASH_BYTES;

describe('a pull request that is pushed again', async () => {
  const first = await rewrite(line('one', 'two'));
  const later = { committedAt: FIRST_PUSH + 3_600, known: [first.dates()] };

  it('keeps the ids of what it had, and dates what is new', async () => {
    const second = await rewrite(line('one', 'two', 'three'), later);
    expect(second.ids.slice(0, 2)).toEqual(first.ids);
    expect(count(first.dates())).toBe(2);
    expect(count(second.dates())).toBe(1);
    expect(second.dates().committedAt).toBe(later.committedAt);
  });

  it('keeps its tip, if two of its commits differ only in who and when', async () => {
    const commits = ['Ada', 'Eve'].map((name) =>
      newCommit({ parents: [UPSTREAM], message: 'same', author: `${name} <a@example.org> 5 +0000` }),
    );
    commits.push(newCommit({ parents: commits.map(({ oid }) => oid), message: 'merge' }));
    const twins = await rewrite(commits);
    expect(twins.contents).toHaveLength(2);
    const again = await rewrite(commits, { ...later, known: [twins.dates()] });
    expect(again.ids).toEqual(twins.ids);
  });

  it('recognises a commit by the id that it would have if all were dated 1970', async () => {
    const { ids } = await rewriteMerge(0);
    const { commitHashes } = (await rewriteMerge(FIRST_PUSH)).dates();
    const starts = ids.map((id) => id.slice(0, 2 * COMMIT_HASH_BYTES));
    expect(Buffer.from(commitHashes).toString('hex')).toBe(starts.join(''));
  });

  it('has no original ids if its own commits are pushed, as after a fetch of its branch', async () => {
    const fetched = first.contents.map(newCommitOf);
    const [added] = line('three') as [ReturnType<typeof newCommit>];
    const again = await rewrite([...fetched, added], later);
    expect(again.originalIds).toEqual([added.oid]);
    expect(first.originalIds).toHaveLength(2);
  });

  it('changes the ids of what stands on a commit that has changed', async () => {
    const amended = await rewrite(line('ONE', 'two'), later);
    expect(amended.ids.some((id) => first.ids.includes(id))).toBe(false);
  });

  it('keeps the first date of a commit that was written down twice', async () => {
    const again = { ...first.dates(), committedAt: FIRST_PUSH + 60 };
    const { ids } = await rewrite(line('one', 'two'), { ...later, known: [first.dates(), again] });
    expect(ids).toEqual(first.ids);
  });

  it('tells nobody whether they have guessed who wrote it, and when: neither matters', async () => {
    const [original] = line('one') as [ReturnType<typeof newCommit>];
    const guess = { ...original, oid: oidNumber(99) };
    expect((await rewrite([guess])).dates()).toEqual((await rewrite([original])).dates());
    const { tip } = await rewrite([guess], later);
    expect(tip).toBe((await rewrite([original], later)).tip);
    expect(tip).toBe(first.ids[0]);
  });

  it('keeps the ids of what mentions its own commits, although their original ids have changed', async () => {
    const before = await rewrite(withRevert('Ada <ada@example.org> 1 +0000'));
    const after = await rewrite(withRevert('Ada <ada@example.org> 2 +0000'), {
      committedAt: FIRST_PUSH + 3_600,
      known: [before.dates()],
    });
    expect(after.ids).toEqual(before.ids);
  });
});

describe('ids of own commits in texts', () => {
  it('are the new ones in the pull request as well', async () => {
    const one = newCommit({ parents: [UPSTREAM], message: 'one' });
    const two = newCommit({
      parents: [one.oid],
      message: `Revert ${one.oid.slice(0, 9)}\n\nSee ${one.oid}.\n`,
    });
    const { ids, contents, withNewIds } = await rewrite([one, two]);
    expect(messageOf(contents[1])).toBe(`Revert ${ids[0]?.slice(0, 9)}\n\nSee ${ids[0]}.\n`);
    expect(withNewIds(`after ${two.oid}`)).toBe(`after ${ids[1]}`);
  });
});

const SQUASH = { squash: true };

function squash(title: string | null, description: string | null) {
  return rewrite(line('one', 'two\n\nText.\n'), { ...SQUASH, title, description });
}

it('each message is reworded once, as work, and a squashed push rewords only its own', async () => {
  const commits = line('one', 'two', 'three');
  const planned = async (options: Pick<typeof PLAN, 'squash' | 'title'>) => {
    const memory = new CountedMemory();
    const reword = vi.fn((_: unknown, message: Uint8Array) => Buffer.from(`${Buffer.from(message)}!`));
    const work = { commits, boundary: BOUNDARY };
    const plan = await planWork(work, { ...PLAN, ...options }, reword, async () => null, memory);
    const messages = Array.from(plan.messages, (message) => Buffer.from(message).toString());
    return { messages, times: reword.mock.calls.length, worked: memory.workedBytes };
  };
  const { messages, times, worked } = await planned({ squash: false, title: null });
  expect([messages, times]).toEqual([['one!', 'two!', 'three!'], 3]);
  expect(worked).toBeGreaterThan(3 * COMMIT_WORK);
  expect(await planned({ squash: true, title: null })).toMatchObject({ messages: ['three!'], times: 1 });
  expect(await planned({ squash: true, title: 'All' })).toMatchObject({ messages: ['All\n!'], times: 2 });
});

describe('squashing', () => {
  it('leaves one commit: the tip, on upstream', async () => {
    const { contents, dates } = await squash(null, null);
    expect(contents).toHaveLength(1);
    expect(count(dates())).toBe(1);
    expect(parseCommit(contents[0] as Uint8Array).parents).toEqual([UPSTREAM]);
    expect(messageOf(contents[0])).toBe('two\n\nText.\n');
    const all = Buffer.concat(contents).toString('latin1');
    for (const word of PRIVATE_WORDS) expect(all).not.toContain(word);
  });

  it.each([
    ['All', null, 'All\n\nText.\n'],
    [null, 'Why.', 'two\n\nWhy.\n'],
    ['All', '', 'All\n'],
  ])('takes title %j and description %j into its message', async (title, description, message) => {
    const { contents } = await squash(title, description);
    expect(messageOf(contents[0])).toBe(message);
  });

  it('names no commit that it has swallowed', async () => {
    const one = newCommit({ parents: [UPSTREAM], message: 'one' });
    const two = newCommit({ parents: [one.oid], message: `Revert ${one.oid} (${one.oid.slice(0, 7)})` });
    const { contents, withNewIds } = await rewrite([one, two], SQUASH);
    expect(messageOf(contents[0])).toBe(`Revert ${'0'.repeat(40)} (0000000)`);
    expect(withNewIds(`not ${one.oid}`)).toBe(`not ${'0'.repeat(40)}`);
  });

  it('stands on the one of several upstream commits that contains the others', async () => {
    const boundary = new Set([UPSTREAM, oidNumber(2)]);
    const { contents } = await rewrite(line('one'), { ...SQUASH, newest: oidNumber(2) }, boundary);
    expect(parseCommit(contents[0] as Uint8Array).parents).toEqual([oidNumber(2)]);
  });

  it.each([[[]], [[UPSTREAM, oidNumber(2)]]])('is refused on the boundary %j', async (boundary) => {
    const rewriting = rewrite(line('one'), SQUASH, new Set(boundary));
    await expect(rewriting).rejects.toThrow('cannot be squashed');
  });
});
