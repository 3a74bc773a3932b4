/** What the person reads of a push that is held. */
import type { HoldReason } from '../../durable/held-pushes/held-push-record.ts';
import { shellWord } from '../reply/banner.ts';
import type { HoldWindow } from './hold.ts';

export interface HeldFacts {
  readonly prHash: string;
  readonly reason: HoldReason;
  readonly window: HoldWindow;
  /** Null if changes need no key, or it was shown before. */
  readonly prKey: string | null;
  readonly needsKey: boolean;
  readonly pageUrl: string;
  /** The address that was pushed to. */
  readonly remoteUrl: string;
  readonly refName: string;
}

/** To the minute, as more would say too much of when it was pushed. */
export function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Why and until when, as a sentence that begins with `Held`. */
export function heldSentence(reason: HoldReason, { from, to }: HoldWindow): string {
  switch (reason) {
    case 'delay':
      return `Held: it is published between ${minuteOf(from)} and ${minuteOf(to)}.`;
    case 'busy':
      return `Held: the code host does not take it now. It is published as soon as it may be, until ${minuteOf(to)}.`;
    case 'review':
      return 'Held: the operator of this service looks at it before it is published.';
  }
}

export function heldLines(facts: HeldFacts): string[] {
  const { prHash, prKey, needsKey, remoteUrl } = facts;
  const key = needsKey ? ` -o pr-key=${prKey ?? '<key>'}` : '';
  const ref = shellWord(`HEAD:${facts.refName}`);
  const command = (options: string) => `  git push -o pr-hash=${prHash}${key} ${options} ${remoteUrl} ${ref}`;
  return [
    '',
    heldSentence(facts.reason, facts.window),
    'Nothing of it is public yet.',
    `  PR hash:  ${prHash}`,
    ...(prKey === null ? [] : [`  PR key:   ${prKey}`]),
    `  Page:     ${facts.pageUrl}`,
    ...(facts.reason === 'review' ? [] : ['Publish it now:', command('-o delay=0s')]),
    'Give it up:',
    command('-o withdraw'),
  ];
}
