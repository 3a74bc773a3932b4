/**
 * Rules of the repository that a push goes to: what its policy asks for, and its gates.
 */
import { gateSentence, OPEN_POLICY, POLICY_PATH, policyFile } from '../../../policy/policy.ts';
import { type Finding, say } from '../../../words/finding.ts';
import { HostError } from '../../../words/host-error.ts';
import { fullName } from '../../../words/repository-name.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { PushedWork } from '../../verdict.ts';
import type { LookedUp, PlaceQuestions } from '../questions.ts';

/** Refuses commits without a sign-off where the repository requires one. */
export function signOff(
  { repository, policy }: LookedUp,
  { isSignedOff }: Pick<PushedWork, 'isSignedOff'>,
): Finding[] {
  if (policy?.requiresSignOff !== true || isSignedOff) return [];
  return [
    new Refusal(
      'sign-off',
      'a sign-off is required',
      [
        `${fullName(repository)} takes only commits under the Developer Certificate of Origin: ${policyFile(policy)} says so.`,
        'Read it at https://developercertificate.org/. To affirm it under the name of the bot, push again with: -o sign-off',
      ],
      { needs: ['sign-off'] },
    ),
  ];
}

/** Refuses a description that does not say what the repository asks for, or names no open issue. */
export async function statements(
  { repository, policy, ask }: LookedUp & { readonly ask: Pick<PlaceQuestions, 'issue'> },
  { ai, issue }: PushedWork['stated'],
): Promise<Finding[]> {
  const isAiMissing = policy?.requiresAi === true && ai === null;
  const isIssueMissing = policy?.requiresIssue === true && issue === null;
  if (isAiMissing || isIssueMissing) {
    const missing = [
      ...(isAiMissing ? ['-o ai=none, -o ai=assisted or -o ai=generated'] : []),
      ...(isIssueMissing ? ['-o issue=<number of an open issue>'] : []),
    ];
    const line = `The ${POLICY_PATH} of ${policy?.owners ?? fullName(repository)} requires it. Push again with: ${missing.join(', and ')}`;
    const needs = [
      ...(isAiMissing ? ['ai=<none, assisted or generated>'] : []),
      ...(isIssueMissing ? ['issue=<number>'] : []),
    ];
    return [new Refusal('stated', 'the repository asks for more', [line], { needs })];
  }
  const why = issue === null ? null : await ask.issue(issue);
  if (why === null) return [];
  const lines = [`${fullName(repository)}#${issue} ${why}. Give the number of an open issue.`];
  const cause = why === 'does not exist' ? notShown() : undefined;
  return [new Refusal('stated', 'the issue is not open', lines, { cause, needs: ['issue=<number>'] })];
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
