/** Rules for commits by others, which a rebase or a merge may have brought unnoticed. */
import type { Ref } from '../../../git/wire/ref-advertisement.ts';
import { type Finding, say, warn } from '../../../words/finding.ts';
import { oneLine } from '../../../words/host-text.ts';
import { fullName } from '../../../words/repository-name.ts';
import { shellWord } from '../../reply/commands.ts';
import { shortName } from '../base-branch.ts';
import type { Known } from '../known.ts';
import { authorOf, commitsFrom, othersIn } from '../work.ts';

/** Work that stands on upstream's commits, as far as this rule asks. */
interface Standing {
  readonly work: Pick<Known['work'], 'boundary'>;
  readonly pushed: Pick<Known['pushed'], 'base' | 'isBaseNamed'>;
  readonly history: Pick<Known['history'], 'has' | 'branchesHolding'>;
  readonly destination: {
    readonly born: Pick<Known['destination']['born'], 'repository' | 'refs' | 'defaultBranch'>;
  };
  readonly circumstances: { readonly settings: Pick<Known['circumstances']['settings'], 'remoteUrl'> };
}

/**
 * Warns of work on a commit that upstream has neither on its default branch nor on a base that the
 * person has named. It is published as it is: who can push there may have made it out of a guess at
 * a person's name, address and seconds, and would see the guess confirmed. They can choose the
 * branch's name, too, and so the base that a push gets by itself.
 */
export function otherBranch(known: Standing): Finding[] {
  const { work, pushed, history, destination, circumstances } = known;
  const { repository, refs, defaultBranch } = destination.born;
  const { base, isBaseNamed } = pushed;
  const trusted = isBaseNamed ? base : defaultBranch;
  const isTrusted = ({ name }: Ref) => name === trusted.name || name === defaultBranch.name;
  for (const oid of work.boundary) {
    if ([trusted, defaultBranch].some((branch) => history.has(branch.oid, oid))) continue;
    const holders = history.has(base.oid, oid) ? [base] : history.branchesHolding(new Set([oid]));
    if (holders.some(isTrusted)) continue;
    const ref = holders[0] ?? refs.find((each) => each.oid === oid);
    const remoteUrl = circumstances.settings.remoteUrl(repository);
    return warn(
      'other-branch',
      `Your work stands on ${oid.slice(0, 12)}, which upstream has ${placeOf(ref, trusted)}. It is published as it is.`,
      'If you have made that commit, and have not published it there, somebody tests a guess at who you are. Then give it another id:',
      `  git fetch ${remoteUrl} ${shellWord(shortName(trusted))} && git rebase --force-rebase FETCH_HEAD`,
    );
  }
  return [];
}

function placeOf(ref: Ref | undefined, trusted: Ref): string {
  if (ref === undefined) return `elsewhere than on its branch "${shortName(trusted)}"`;
  const tag = /^refs\/tags\/(.+)/.exec(ref.name)?.[1];
  return tag === undefined ? `on its branch "${shortName(ref)}"` : `as its tag "${oneLine(tag)}"`;
}

/** The ref of a pull request at GitHub, Gitea and Forgejo. */
const PULL_REF = /^refs\/pull\/(\d{1,10})\/head$/;
const MOST_BORROWED = 3;

export function otherAuthors({ work: { commits }, bot }: Pick<Known, 'work' | 'bot'>): Finding[] {
  const { length } = othersIn(commits, bot);
  if (length === 0) return [];
  const are = length === 1 ? 'is by another author' : 'are by other authors';
  return warn(
    'other-authors',
    `${length} of ${commits.length} commits ${are}. All would be published in the name of the bot.`,
  );
}

/**
 * Warns of commits that `overwrite` drops from the branch of a pull request, as it may have been
 * given for others that the person knew of.
 * @param others as `othersOn` describes them; null: nobody shows them.
 */
export function droppedCommits(others: readonly string[] | null): Finding[] {
  if (others?.length === 0) return [];
  const [end, lines] = others === null ? ['. The code host does not show them.', []] : [':', others];
  const drops = `This update drops commits that somebody else has pushed to the pull request${end}`;
  return warn('dropped', drops, ...lines.map((line) => `  ${line}`));
}

/**
 * Warns of commits of other pull requests, which would be published again under the bot's name. The
 * host is not asked about commits of a single author.
 */
export async function borrowedCommits({
  place,
  work: { commits },
  received: { pack },
  destination: { born, named },
}: Pick<Known, 'place' | 'work' | 'received' | 'destination'>): Promise<Finding[]> {
  if (place === null) return [];
  const authors = new Set<string | undefined>();
  for (const commit of commits) authors.add(authorOf(commit));
  if (authors.size < 2) return [];
  const oids = new Set(Array.from(commits, ({ oid }) => oid));
  const refs = await place.ask.advertised(oids);
  if (refs === null)
    return say(
      'borrowed',
      'The service could not check whether commits of other pull requests are among yours.',
    );
  const own = named?.pullRequest.number;
  const numbers = [...refs].flatMap(([oid, name]) => {
    const [, number] = PULL_REF.exec(name) ?? [];
    return number === undefined || Number(number) === own ? [] : [{ oid, number }];
  });
  const lines = numbers.slice(0, MOST_BORROWED).map(({ oid, number }) => {
    // A client may send commits that upstream has, too.
    const theirs = [...commitsFrom(pack.kept, oid)].filter((each) => oids.has(each)).length;
    const of = `${theirs} of the ${oids.size} commits ${theirs === 1 ? 'is' : 'are'} of ${fullName(born.repository)}#${number}`;
    return `${of}, and would be published again in the name of the bot.`;
  });
  return warn('borrowed', ...lines);
}
