/**
 * Rule for what tools have written into messages, title and description.
 * Proved by test/push/judge/rules/trails.test.ts and test/e2e/push/trails.test.ts.
 */
import type { Plan } from '../../../git/objects/planned-commits.ts';
import { serverOf } from '../../../git/search/message-ids.ts';
import { placeOfMessage } from '../../../leaks/findings.ts';
import { tellTrails } from '../../../leaks/trails.ts';
import type { UpstreamHistory } from '../../../upstream/upstream-history.ts';
import { type Finding, warn } from '../../../words/finding.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { PushedWork } from '../../verdict.ts';
import type { Known } from '../known.ts';

type Pushed = Pick<Known, 'received' | 'circumstances' | 'history' | 'plan' | 'pushed'>;

/** Gathers what leads to nobody: what upstream's messages have, and links to the code host. */
export function usualIn(
  { conventions }: Pick<UpstreamHistory, 'conventions'>,
  hostUrl: string,
): ReadonlySet<string> {
  return new Set([...conventions, serverOf(hostUrl)]);
}

/**
 * Finds what tools have written. What is surely the person's refuses the push, as their name does.
 */
export async function trails({
  received: { options },
  circumstances: { settings, memory },
  history,
  plan,
  pushed,
}: Pushed): Promise<readonly Finding[]> {
  if (settings.identityCheck === 'off') return [];
  const usual = usualIn(history, settings.hostUrl);
  const { refused, warned, advice } = await tellTrails(textsOf(plan, pushed), usual, memory);
  const lines = [...refused, ...warned, ...advice];
  const mayPass = options.publishNames || settings.identityCheck === 'warn';
  if (refused.length === 0 || mayPass) return warn('trails', ...lines);
  return [
    new Refusal('trails', 'the id of a session of yours would become public', [
      ...lines,
      'Nothing of this push was sent.',
      'Remove the line and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
      'To publish it anyway, add: -o publish-names',
    ]),
  ];
}

function* textsOf(
  plan: Pick<Plan, 'messages'>,
  texts: Pick<PushedWork, 'title' | 'description'>,
): Generator<readonly [() => string, Uint8Array]> {
  for (const message of plan.messages()) yield [() => placeOfMessage(message), message];
  for (const where of ['title', 'description'] as const) {
    const text = texts[where];
    if (text !== null) yield [() => where, text.bytes];
  }
}
