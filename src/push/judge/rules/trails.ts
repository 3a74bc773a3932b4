/**
 * Rule for what tools have written into messages, title and description.
 * Proved by test/push/judge/rules/trails.test.ts and test/e2e/push/trails.test.ts.
 */
import type { Memory } from '../../../git/memory.ts';
import type { Plan } from '../../../git/objects/planned-commits.ts';
import { serverOf } from '../../../git/search/message-ids.ts';
import { placeOfMessage } from '../../../leaks/findings.ts';
import { tellTrails } from '../../../leaks/trails.ts';
import type { UpstreamHistory } from '../../../upstream/upstream-history.ts';
import type { PushSettings } from '../../push-host.ts';
import type { PushOptions } from '../../receive/push-options.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { PushedWork } from '../../verdict.ts';

interface Searched {
  readonly settings: Pick<PushSettings, 'identityCheck'>;
  readonly options: Pick<PushOptions, 'publishNames'>;
  readonly plan: Pick<Plan, 'messages'>;
  readonly texts: Pick<PushedWork, 'title' | 'description'>;
  readonly usual: ReadonlySet<string>;
  readonly memory: Pick<Memory, 'worked'>;
}

interface TrailsFound {
  /** Null: nothing refuses the push. */
  readonly refusal: Refusal | null;
  /** All that was found, for a push that goes on, or a preview. */
  readonly lines: readonly string[];
}

/** What leads to nobody: what upstream's messages have, and links to the code host. */
export function usualIn(
  { conventions }: Pick<UpstreamHistory, 'conventions'>,
  hostUrl: string,
): ReadonlySet<string> {
  return new Set([...conventions, serverOf(hostUrl)]);
}

export async function findTrails(search: Searched): Promise<TrailsFound> {
  const { settings, options, usual, memory } = search;
  if (settings.identityCheck === 'off') return { refusal: null, lines: [] };
  const { refused, warned, advice } = await tellTrails(textsOf(search), usual, memory);
  const lines = [...refused, ...warned, ...advice];
  const mayPass = options.publishNames || settings.identityCheck === 'warn';
  if (refused.length === 0 || mayPass) return { refusal: null, lines };
  const refusal = new Refusal('trails', 'the id of a session of yours would become public', [
    ...lines,
    'Nothing of this push was sent.',
    'Remove the line and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
    'To publish it anyway, add: -o publish-names',
  ]);
  return { refusal, lines };
}

function* textsOf({ plan, texts }: Searched): Generator<readonly [() => string, Uint8Array]> {
  for (const message of plan.messages()) yield [() => placeOfMessage(message), message];
  for (const where of ['title', 'description'] as const) {
    const text = texts[where];
    if (text !== null) yield [() => where, text.bytes];
  }
}
