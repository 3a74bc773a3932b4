/** Dates, and so ids, that commits keep; and many commits that become one. */
import { describe, expect, it } from 'vitest';
import { COMMIT_HASH_BYTES, type DatedCommits } from '../../../src/durable/pull-request/record.ts';
import { parseCommit } from '../../../src/git/commit.ts';
import { squashedMessage } from '../../../src/push/pull-request/proposal.ts';
import { type RewritePlan, rewriteHistory } from '../../../src/push/rewriting/rewriting.ts';
import { type CommitFields, commitContent, oidNumber, PRIVATE_WORDS } from '../../support/objects.ts';
import { oidOf } from '../../support/pack-builder.ts';

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

async function rewrite(
  commits: ReturnType<typeof line>,
  plan: Partial<RewritePlan> = {},
  ground: ReadonlySet<string> = GROUND,
) {
  const rewritten = await rewriteHistory({ ...PLAN, ...plan }, commits, ground);
  const contents = [...rewritten.contents];
  const originalIds = [...rewritten.history.originalIds];
  return {
    ...rewritten.history,
    originalIds,
    contents,
    ids: contents.map((content) => oidOf('commit', content)),
  };
}

/** A commit, and one that reverts it. */
function withRevert(author: string) {
  const one = newCommit({ parents: [UPSTREAM], message: 'one', author });
  const two = newCommit({ parents: [one.oid], message: `This reverts commit ${one.oid}.\n`, author });
  return [one, two];
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

  it('has no original ids if its own commits are pushed, as after a fetch of its branch', async () => {
    const fetched = first.contents.map((content) => ({
      oid: oidOf('commit', content),
      commit: parseCommit(content),
    }));
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
    const { ids, tipCommit, withNewIds } = await rewrite([one, two]);
    const message = Buffer.from(tipCommit.message).toString();
    expect(message).toBe(`Revert ${ids[0]?.slice(0, 9)}\n\nSee ${ids[0]}.\n`);
    expect(Buffer.from(withNewIds(Buffer.from(`after ${two.oid}`))).toString()).toBe(`after ${ids[1]}`);
  });
});

function squashPlan(title: string | null, description: string | null, newest: string | null = null) {
  return {
    squash: {
      message: squashedMessage.bind(null, { title, description }),
      newestOf: async () => newest,
    },
  };
}

function squash(title: string | null, description: string | null) {
  return rewrite(line('one', 'two\n\nText.\n'), squashPlan(title, description));
}

describe('squashing', () => {
  it('leaves one commit: the tip, on upstream', async () => {
    const { contents, commitCount, dates } = await squash(null, null);
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
  ])('takes title %j and description %j into its message', async (title, description, message) => {
    const { contents } = await squash(title, description);
    expect(Buffer.from(parseCommit(contents[0] as Uint8Array).message).toString()).toBe(message);
  });

  it('names no commit that it has swallowed', async () => {
    const one = newCommit({ parents: [UPSTREAM], message: 'one' });
    const two = newCommit({ parents: [one.oid], message: `Revert ${one.oid} (${one.oid.slice(0, 7)})` });
    const { tipCommit, contents } = await rewrite([one, two], squashPlan(null, null));
    const expected = `Revert ${'0'.repeat(40)} (0000000)`;
    expect(Buffer.from(parseCommit(contents[0] as Uint8Array).message).toString()).toBe(expected);
    expect(Buffer.from(tipCommit.message).toString()).toBe(expected);
  });

  it('stands on the one of several upstream commits that contains the others', async () => {
    const ground = new Set([UPSTREAM, oidNumber(2)]);
    const { contents } = await rewrite(line('one'), squashPlan(null, null, oidNumber(2)), ground);
    expect(parseCommit(contents[0] as Uint8Array).parents).toEqual([oidNumber(2)]);
  });

  it.each([[[]], [[UPSTREAM, oidNumber(2)]]])('is refused on the ground %j', async (ground) => {
    const rewriting = rewrite(line('one'), squashPlan(null, null), new Set(ground));
    await expect(rewriting).rejects.toThrow('cannot be squashed');
  });
});
