/**
 * Rules of the repository that a push goes to: what its policy asks for, and its gates. What misses
 * a check that its own files show (src/policy/gates.ts) is warned of; what may meet one is told.
 */
import { pullRequestText } from '../../../git/objects/commit-message.ts';
import { shown } from '../../../leaks/lines.ts';
import { MAX_READ_BYTES } from '../../../leaks/messages.ts';
import { type Gate, gateWords, isConventional } from '../../../policy/gates.ts';
import { OPEN_POLICY, POLICY_PATH, vouchGate } from '../../../policy/policy.ts';
import { UNKNOWN_IDS, wholeText } from '../../../text/pull-request-text.ts';
import { type Finding, say, warn } from '../../../words/finding.ts';
import { HostError } from '../../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../../words/repository-name.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { PushedWork } from '../../verdict.ts';
import type { PushSettings } from '../../push-host.ts';
import type { LookedUp, PlaceQuestions } from '../questions.ts';

/** One thing that a policy asks for: what it is, and the option that gives it. */
interface Demand {
  readonly line: string;
  readonly needs: string;
}

const SIGN_OFF: Demand = {
  line: 'a sign-off, which affirms https://developercertificate.org/ under the name of the bot: -o sign-off',
  needs: 'sign-off',
};
const AI: Demand = {
  line: 'whether AI was used: -o ai=none, -o ai=assisted or -o ai=generated',
  needs: 'ai=<none, assisted or generated>',
};
const ISSUE: Demand = {
  line: 'the issue that it is about: -o issue=<number of an open issue>',
  needs: 'issue=<number>',
};
const COUNTS = ['nothing', 'one thing', 'two things', 'three things'] as const;

/**
 * Refuses a push that does not give what the repository asks for, or names no open issue.
 * @param describes whether it gives the pull request a description.
 */
export async function demands(
  { repository, policy, ask }: LookedUp & { readonly ask: Pick<PlaceQuestions, 'issue'> },
  { isSignedOff, stated: { ai, issue } }: Pick<PushedWork, 'isSignedOff' | 'stated'>,
  describes: boolean,
): Promise<Finding[]> {
  const missing = [
    ...(policy?.requiresSignOff === true && !isSignedOff ? [SIGN_OFF] : []),
    ...(policy?.requiresAi === true && describes && ai === null ? [AI] : []),
    ...(policy?.requiresIssue === true && describes && issue === null ? [ISSUE] : []),
  ];
  const refused = missing.length === 0 ? [] : [notGiven(repository, policy?.owners, missing)];
  const why = issue === null || !describes ? null : await ask.issue(issue);
  if (why === null) return refused;
  const lines = [`${fullName(repository)}#${issue} ${why}. Give the number of an open issue.`];
  const cause = why === 'does not exist' ? notShown() : undefined;
  const needs = ['issue=<number>'];
  return [...refused, new Refusal('stated', 'the issue is not open', lines, { cause, needs })];
}

function notGiven(
  repository: RepositoryName,
  owners: string | undefined,
  missing: readonly Demand[],
): Refusal {
  const file = owners === undefined ? POLICY_PATH : `${POLICY_PATH} of ${owners}`;
  const isSignOff = missing.length === 1 && missing[0] === SIGN_OFF;
  const lines = [
    `${fullName(repository)} asks for ${COUNTS[missing.length]} (${file}):`,
    ...missing.map(({ line }) => `  ${line}`),
  ];
  const needs = missing.map((each) => each.needs);
  return isSignOff
    ? new Refusal('sign-off', 'a sign-off is required', lines, { needs })
    : new Refusal('stated', 'the repository asks for more', lines, { needs });
}

/** Tells that a list of vouched accounts closes what the bot opens, or may close it. */
export function gate({
  place,
  destination: { updates },
}: {
  readonly place: LookedUp | null;
  readonly destination: { readonly updates: boolean };
}): Finding[] {
  if (place === null || updates) return [];
  const found = vouchGate(place.repository, place.policy ?? OPEN_POLICY, 'pull_requests');
  if (found === null) return [];
  return found.isSure ? warn('gate', found.sentence) : say('gate', found.sentence);
}

type Told = Exclude<Gate, { asks: 'vouch' }>;

/** As much of a push as these rules need. */
interface Gated {
  readonly place: LookedUp | null;
  readonly destination: {
    readonly updates: boolean;
    readonly born: { readonly repository: RepositoryName };
  };
  readonly pushed: Pick<PushedWork, 'commits' | 'title' | 'description' | 'isSignedOff' | 'stated'>;
}

/** Finds a gate, and what to say of it. */
function gateOf({ place, destination }: Pick<Gated, 'place' | 'destination'>, asks: Told['asks']) {
  const gates = place?.policy?.community.gates ?? [];
  const found = gates.filter((each) => each.asks !== 'vouch').find((each) => each.asks === asks);
  return found && { gate: found, words: gateWords(found, fullName(destination.born.repository)) };
}

export function titleGate(known: Gated): Finding[] {
  const { pushed, destination } = known;
  const found = gateOf(known, 'title');
  if (found?.gate.asks !== 'title' || destination.updates) return [];
  if (!found.gate.isConventional) return say('title-gate', `${found.words} Read it first.`);
  const { title } = wholeText({ ...pushed, footer: '' }, UNKNOWN_IDS);
  if (isConventional(title)) return [];
  const advice = 'Give another one, with a type that fits: -o title="fix: …"';
  return warn('title-gate', `${found.words} Yours is: ${shown(title)}`, advice);
}

/** Reads what loudMessages reads, too. Tools of this kind leave out merges. */
export function messagesGate(known: Gated): Finding[] {
  const found = gateOf(known, 'messages');
  if (found?.gate.asks !== 'messages') return [];
  const others: string[] = [];
  let bytesLeft = MAX_READ_BYTES;
  for (const { encoding, message, parents } of known.pushed.commits) {
    const { title } = pullRequestText({ encoding, message: message.bytes });
    if (parents.length < 2 && !isConventional(title)) others.push(title);
    bytesLeft -= message.bytes.byteLength;
    if (bytesLeft <= 0) break;
  }
  const [first] = others;
  if (first === undefined) return [];
  if (!found.gate.isConventional) return say('messages-gate', found.words);
  const count =
    others.length === 1 ? 'This one of yours does not' : `${others.length} of yours do not, such as`;
  return warn('messages-gate', `${found.words} ${count}: ${shown(first)}`, 'Change it with: git rebase -i');
}

export function signOffGate(known: Gated): Finding[] {
  const found = gateOf(known, 'sign-off');
  // A policy that requires it refuses, and says the same.
  if (found === undefined || known.pushed.isSignedOff || known.place?.policy?.requiresSignOff === true)
    return [];
  const advice = 'Read it at https://developercertificate.org/. To affirm it, add: -o sign-off';
  return warn('sign-off-gate', found.words, advice);
}

/** Says what cannot be checked: signatures, and rules about AI. */
export function otherGates(
  known: Gated & { readonly circumstances: { readonly settings: Pick<PushSettings, 'fileUrl'> } },
): Finding[] {
  const { destination, pushed, circumstances } = known;
  if (destination.updates) return [];
  const [signature, ai] = [gateOf(known, 'signature'), gateOf(known, 'ai')];
  const url = circumstances.settings.fileUrl(destination.born.repository, ai?.gate.path ?? '');
  const isAiUnsaid =
    ai !== undefined && pushed.stated.ai === null && known.place?.policy?.requiresAi !== true;
  return [
    ...(signature === undefined ? [] : say('signature-gate', signature.words)),
    ...(isAiUnsaid
      ? say(
          'ai-gate',
          `${ai.words} ${url}`,
          'Say what you used: -o ai=none, -o ai=assisted or -o ai=generated',
        )
      : []),
  ];
}

/**
 * The cause of what follows from it: the host may be wrong once, so a delayed push is tried again.
 */
export function notShown(): HostError {
  return new HostError('missing', 'The code host does not show it.', undefined, { status: 404 });
}
