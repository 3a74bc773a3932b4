/**
 * Warnings of a pull request that would open although the service has one with the same commits, or
 * although the one that the push names has ended. The maintainers may have said no.
 */
import { type Finding, say, warn } from '../../../words/finding.ts';
import { repeatCommand, shellWord } from '../../reply/commands.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { SameWork } from '../../reply/reply.ts';
import type { Compared } from '../../same-work.ts';
import type { Known } from '../known.ts';

type Push = Pick<Known, 'received' | 'circumstances' | 'destination' | 'pushed'>;

const UNCHECKED = 'The service could not check whether your commits are open already.';
const ONLY_ONE = 'This service opens no second pull request for them: update that one.';
/** Tells everybody the same, because the answer must not tell a repeat from a guess. */
export const REPEATED = 'If this is the same push once more, within ten minutes, no second one opens.';
export const RETRIED = 'If this is a retry because no answer came: it is open, and nothing is left to do.';
const NEW_ONE = 'This would open a NEW pull request.';

/** @param compared what the push has in common with pull requests of this service. */
export async function doubles(push: Push, { found }: Pick<Compared, 'found'>): Promise<Finding[]> {
  if (push.destination.updates) return [];
  const named = await endedOne(push);
  const isNamed = named !== null && found?.prHash === named.prHash;
  const unknown = found === undefined ? say('second', UNCHECKED) : [];
  return [
    ...(named === null ? [] : tell(push, { ...named, shared: isNamed ? found.shared : 0 })),
    ...(found && !isNamed && !isStale(push, found) ? tell(push, found) : unknown),
  ];
}

/** Whether it is the one that the push names, which is not open any more or cannot be updated. */
function isStale({ received: { options } }: Push, { prHash, state }: SameWork): boolean {
  return prHash === options.prHash && state === 'open';
}

/** Finds the pull request that the push names, if it has ended; null: not, or there is none. */
async function endedOne({
  received: { options },
  circumstances: { records },
  destination: { named, claim },
}: Push): Promise<Omit<SameWork, 'shared'> | null> {
  const isKnown = named !== null || (claim?.recorded ?? null) !== null;
  if (options.prHash === null || !isKnown || named?.pullRequest.isOpen) return null;
  const recorded = await records.recorded(options.prHash);
  if (named === null) return recorded?.state === 'open' ? null : recorded;
  // The service may have heard less than the host says.
  const { url, number, isMerged } = named.pullRequest;
  const state = isMerged ? 'merged' : recorded?.state === 'withdrawn' ? 'withdrawn' : 'closed';
  return { prHash: options.prHash, number, url, state, endedOn: recorded?.endedOn ?? null };
}

function tell(push: Push, one: SameWork): Finding[] {
  switch (one.state) {
    case 'open':
      return second(push, one);
    case 'merged':
      return merged(push, one);
    case 'closed':
      return closed(push, one);
    case 'withdrawn':
      return [];
  }
}

/** @throws Refusal if the operator wants no doubles. */
function second({ received, circumstances, destination, pushed }: Push, one: SameWork): Finding[] {
  const { prHash, url, shared } = one;
  const { settings } = circumstances;
  const { options, taken } = received;
  const its = `${countOf(one, pushed)} already in ${url}.`;
  const needsKey = settings.prUpdatePolicy === 'key';
  if (settings.pushDoubles === 'refuse') {
    const needs = [`pr-hash=${prHash}`, ...(needsKey ? ['pr-key=<key>'] : [])];
    throw new Refusal('double', 'the commits are open already', [its, ONLY_ONE], { needs });
  }
  const repeated = settings.door === 'git' ? [REPEATED] : [REPEATED, RETRIED];
  const hasTexts = options.title !== null || options.description !== null;
  const update = repeatCommand(
    { settings, target: destination.born.repository },
    { taken, options: { ...options, draft: false } },
    { prHash, prKey: needsKey || hasTexts ? '<key>' : null, isSame: true },
    [],
  );
  return warn(
    'second',
    `Warning: this would be a SECOND pull request. ${its}`,
    ...(shared === pushed.commits.length ? repeated : []),
    'To update that one:',
    `  ${update}`,
  );
}

function merged({ circumstances: { settings }, destination, pushed }: Push, one: SameWork): Finding[] {
  if (one.shared === 0) return warn('merged', `${one.url} is merged already. ${NEW_ONE}`);
  const pull = `git pull --rebase ${settings.remoteUrl(destination.born.repository)} ${shellWord(pushed.base.name)}`;
  return warn(
    'merged',
    `${countOf(one, pushed)} merged already, with ${one.url}. ${NEW_ONE}`,
    'To leave out what is merged:',
    `  ${pull}`,
  );
}

/**
 * Says nothing of who has closed it, the maintainers or the bot for its operator: the host would
 * have to be asked, and would learn of a push that its person may yet stop.
 */
function closed({ circumstances: { settings } }: Push, { url, prHash, endedOn }: SameWork): Finding[] {
  const on = endedOn === null ? '' : ` on ${endedOn}`;
  const page = settings.pageUrl(prHash);
  return warn('closed', `${url} was closed${on}; read what was written: ${page}`, NEW_ONE);
}

/** Begins a sentence. */
function countOf({ shared }: SameWork, { commits: { length } }: Push['pushed']): string {
  if (length === 1) return 'Your commit is';
  return shared === length
    ? `Your ${length} commits are`
    : `${shared} of your ${length} commits ${shared === 1 ? 'is' : 'are'}`;
}
