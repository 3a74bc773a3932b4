/**
 * Rules of the repository that a push goes to: what its policy asks for, and its gates.
 */
import { OPEN_POLICY, POLICY_PATH, gateSentence } from '../../../policy/policy.ts';
import { type Finding, say } from '../../../words/finding.ts';
import { HostError } from '../../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../../words/repository-name.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { PushedWork } from '../../verdict.ts';
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

/** Says that a gate of the repository may close what the bot opens. */
export function gate({
  place,
  destination: { updates },
}: {
  readonly place: LookedUp | null;
  readonly destination: { readonly updates: boolean };
}): Finding[] {
  const sentence =
    place === null || updates ? null : gateSentence(place.repository, place.policy ?? OPEN_POLICY);
  return sentence === null ? [] : say('gate', sentence);
}

/**
 * The cause of what follows from it: the host may be wrong once, so a delayed push is tried again.
 */
export function notShown(): HostError {
  return new HostError('missing', 'The code host does not show it.', undefined, { status: 404 });
}
