/** Rule for what tools have written into messages, title and description. */
import { concatBytes } from '../../../git/bytes.ts';
import { serverOf } from '../../../git/search/message-ids.ts';
import { textsWith } from '../../../git/search/small-texts.ts';
import { placeOfMessage, PUBLISH_ANYWAY } from '../../../leaks/findings.ts';
import { MAY_HAVE_TRAILS, tellTrails } from '../../../leaks/trails.ts';
import { type Finding, warn } from '../../../words/finding.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { Known } from '../known.ts';

const LF = 0x0a;

const REMOVE =
  'Remove the line and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.';
const DESCRIBE = 'Push again with another description, which does not have the line.';

/** Returns what leads to nobody in any repository: links to the code host. */
export function usualAnywhere(hostUrl: string): ReadonlySet<string> {
  return new Set([serverOf(hostUrl)]);
}

/** Refuses the id of a session, which names an account as surely as a token does. */
export async function trails(known: SearchedForTrails): Promise<readonly Finding[]> {
  const { history, received, circumstances } = known;
  const { settings, memory } = circumstances;
  if (settings.identityCheck === 'off') return [];
  const usual = new Set([...usualAnywhere(settings.hostUrl), ...history.conventions]);
  const { refused, isRefusedIn, warned, advice } = await tellTrails(textsOf(known), usual, memory);
  const mayPass = received.options.publishNames || settings.identityCheck === 'warn';
  if (refused.length === 0 || mayPass) return warn('trails', ...refused, ...warned, ...advice);
  const reason = 'the id of a session of yours would become public';
  const { messages, texts } = isRefusedIn;
  const lines = [
    ...refused,
    ...advice,
    ...(messages ? [REMOVE] : []),
    ...(texts ? [DESCRIBE] : []),
    PUBLISH_ANYWAY,
  ];
  // No option changes a description.
  const needs = texts ? [] : ['strip-trails'];
  return [new Refusal('trails', reason, lines, { needs }), ...warn('trails', ...warned)];
}

async function* textsOf({
  plan,
  pushed: { title, description },
  circumstances: { memory },
}: SearchedForTrails) {
  for await (const message of textsWith(plan.messages, MAY_HAVE_TRAILS, memory))
    yield { where: () => placeOfMessage(message), text: message, isMessage: true };
  if (title !== null) yield { where: () => 'title', text: title.bytes, isMessage: false };
  // Its first line is no title, and may be a trailer.
  if (description !== null) {
    const text = concatBytes([Uint8Array.of(LF), description.bytes]);
    yield { where: () => 'description', text, isMessage: false };
  }
}

/** As much of a push as the rule needs. */
interface SearchedForTrails {
  readonly history: Pick<Known['history'], 'conventions'>;
  readonly received: { readonly options: Pick<Known['received']['options'], 'publishNames'> };
  readonly circumstances: {
    readonly settings: Pick<Known['circumstances']['settings'], 'identityCheck' | 'hostUrl'>;
    readonly memory: Pick<Known['circumstances']['memory'], 'worked'>;
  };
  readonly plan: Pick<Known['plan'], 'messages'>;
  readonly pushed: Pick<Known['pushed'], 'title' | 'description'>;
}
