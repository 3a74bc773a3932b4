/** A chain of commits becomes the bot's: each keeps its place, its tree and its message. */
import { describe, expect, it } from 'vitest';
import { AnonymousCommits } from '../../../src/git/objects/anonymize.ts';
import { type CommitFields, commitContent, oidNumber, PRIVATE_WORDS } from '../../support/objects.ts';
import { SigningKey } from '../../../src/git/objects/ssh-signature.ts';
import { parseCommit } from '../../../src/git/objects/commit.ts';
import { newCommitOf } from '../../support/new-commits.ts';
import { oidOf } from '../../support/pack-builder.ts';
import { planned } from '../../support/planned.ts';

const BOT = { name: 'bot', email: 'bot@example.invalid' };
const UPSTREAM = oidNumber(1);
const dateOf = () => 1_800_000_000;

function newCommit(fields: CommitFields) {
  const content = commitContent(fields);
  return newCommitOf(content);
}

function anonymize(...commits: ReturnType<typeof newCommit>[]) {
  const anonymous = new AnonymousCommits(planned(commits).commits, BOT, dateOf);
  const contents = Array.from(anonymous.contents(), (content) => content.slice());
  return {
    contents,
    idOf: (oid: string) => anonymous.idOf(commits.findIndex((commit) => commit.oid === oid)),
  };
}

/** Parents and message of each new commit, by its id. */
const read = (contents: Iterable<Uint8Array>) =>
  Array.from(contents, (content) => {
    const { parents, message } = parseCommit(content);
    return { oid: oidOf('commit', content), parents, message: Buffer.from(message).toString() };
  });

describe('anonymous commits', () => {
  it('links new commits to each other, and leaves upstream where it is', () => {
    const first = newCommit({ parents: [UPSTREAM], message: 'first' });
    const second = newCommit({ parents: [first.oid], message: 'second' });
    const { idOf, contents } = anonymize(first, second);
    const [newFirst, newSecond] = read(contents);
    expect(newFirst).toMatchObject({ parents: [UPSTREAM], message: 'first' });
    expect(newSecond).toMatchObject({ parents: [newFirst?.oid], message: 'second' });
    expect(idOf(second.oid)).toBe(newSecond?.oid);
    expect([first.oid, second.oid]).not.toContain(newFirst?.oid);
  });

  it('keeps the order of a merge and of parents that are upstream', () => {
    const left = newCommit({ parents: [UPSTREAM], message: 'left' });
    const right = newCommit({ parents: [UPSTREAM], message: 'right' });
    const merge = newCommit({ parents: [right.oid, UPSTREAM, left.oid], message: 'merge' });
    const [newLeft, newRight, newMerge] = read(anonymize(left, right, merge).contents);
    expect(newMerge?.parents).toEqual([newRight?.oid, UPSTREAM, newLeft?.oid]);
  });

  it('keeps a root without parents', () => {
    expect(read(anonymize(newCommit({ message: 'root' })).contents)).toMatchObject([{ parents: [] }]);
  });

  it('makes one commit of two that differ only in who and when', () => {
    const ada = newCommit({ parents: [UPSTREAM] });
    const eve = newCommit({ parents: [UPSTREAM], author: 'Eve <eve@example.org> 5 +0000' });
    const merge = newCommit({ parents: [ada.oid, eve.oid], message: 'merge' });
    const { contents } = anonymize(ada, eve, merge);
    const [twin, newMerge] = read(contents);
    expect(contents).toHaveLength(2);
    expect(newMerge?.parents).toEqual([twin?.oid]);
  });

  it('names no original commit and no person', () => {
    const first = newCommit({ parents: [UPSTREAM] });
    const second = newCommit({ parents: [first.oid], headers: 'gpgsig Ada Lovelace\n' });
    const all = Buffer.concat([...anonymize(first, second).contents]).toString('latin1');
    for (const word of [...PRIVATE_WORDS, first.oid, second.oid]) expect(all).not.toContain(word);
  });

  it('claims the memory of its signatures before it signs, and none without a key', async () => {
    const { commits } = planned([newCommit({ message: 'one' }), newCommit({ message: 'two' })]);
    const asked: (readonly [number, number])[] = [];
    let signed = 0;
    const set = async (bytes: number) => void asked.push([bytes, signed]);
    const worked = async () => void (signed += 1);
    const memory = { claim: () => ({ bytes: 0, set, setNow: () => {} }), worked };
    await AnonymousCommits.make(commits, BOT, dateOf, new SigningKey(new Uint8Array(32)), memory);
    await AnonymousCommits.make(commits, BOT, dateOf, null, memory);
    expect([asked, signed]).toEqual([[[2 * 76, 0]], 2]);
  });
});
