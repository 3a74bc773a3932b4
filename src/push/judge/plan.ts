/** The commits that leave: all new ones, or one that is made of them. */
import type { Commit } from '../../git/objects/commit.ts';
import type { NewCommit, NewCommits } from '../../git/objects/new-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { OwnIds } from '../../git/objects/own-ids.ts';
import { type Plan, planCommits } from '../../git/objects/planned-commits.ts';
import { Refusal } from '../reply/refusal.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { SignOff } from './sign-off.ts';
import { squashedMessage } from '../verdict/text.ts';
import type { Work } from './work.ts';

/**
 * @param signOff null: the messages stay as they are.
 * @param newestOf the upstream commit that contains all others of them; null if there is none.
 * @throws Refusal if they cannot become one.
 */
export async function planWork(
  { commits: pushed, ground }: Work,
  options: Pick<PushOptions, 'squash' | 'title' | 'description'>,
  signOff: SignOff | null,
  newestOf: (ground: ReadonlySet<Oid>) => Promise<Oid | null>,
): Promise<Plan> {
  const commits = signOff?.signed(pushed) ?? pushed;
  const ownIds = new OwnIds(idsOf(commits));
  if (!options.squash) return planCommits(commits, ownIds);
  // If there are several and none contains the others, the one commit could undo changes of some of them.
  const parent = ground.size > 1 ? await newestOf(ground) : [...ground][0];
  if (parent === undefined || parent === null) {
    throw new Refusal('squash', 'the commits cannot be squashed', [
      'They are based on several upstream commits, none of which contains the others, or on no upstream commit.',
      'Rebase them instead of merging, or push without "-o squash".',
    ]);
  }
  const { oid, commit } = commits.at(-1) as NewCommit;
  // The tip's files.
  const newest = newestWork(commits);
  const words = squashedMessage(options, newest.commit);
  // The options may have replaced the part of the message that was signed.
  const message = signOff?.signedMessage(newest.oid, words.message) ?? words.message;
  const squashed: Commit = { ...commit, ...words, message, parents: [parent] };
  return planCommits([{ oid, commit: squashed }], ownIds);
}

/** A line for the person, if the squashed commit has another message than the tip. */
export function warningOfSquash(
  { commits }: Work,
  { squash, title }: Pick<PushOptions, 'squash' | 'title'>,
): string[] {
  const isOther = squash && title === null && newestWork(commits).oid !== commits.at(-1)?.oid;
  return isOther ? ['The squashed commit has the message of your newest commit that is not a merge.'] : [];
}

/** The newest commit that is not a merge, whose message would tell of branches; the tip if all are. */
function newestWork(commits: NewCommits): NewCommit {
  for (let back = 1; back <= commits.length; back++) {
    const found = commits.at(-back) as NewCommit;
    if (found.commit.parents.length < 2) return found;
  }
  return commits.at(-1) as NewCommit;
}

function* idsOf(commits: NewCommits): Generator<Oid> {
  for (const { oid } of commits) yield oid;
}
