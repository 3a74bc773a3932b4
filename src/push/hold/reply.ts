/** What the person reads of a push that is held. */
import type { HoldReason } from '../../durable/held-pushes/held-push-record.ts';
import type { HoldWindow } from './hold.ts';

export interface HeldFacts {
  readonly prHash: string;
  readonly reason: HoldReason;
  readonly window: HoldWindow;
  /** Null if changes need no key, or it was shown before. */
  readonly prKey: string | null;
  readonly pageUrl: string;
  /** Pushes what is held once more, with the same options. */
  readonly command: string;
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

/** Of one that was tried to be published, nobody knows how far that came. */
export function notPublic(reason: HoldReason): string[] {
  return reason === 'busy' ? [] : ['Nothing of it is public yet.'];
}

/** The key is shown once, in the command. */
export function heldLines({ prHash, reason, window, prKey, pageUrl, command }: HeldFacts): string[] {
  const now = reason === 'review' ? '' : ', publish it now (add -o delay=0s)';
  const lost = prKey === null ? '' : ' Nobody can recover the key in this command.';
  return [
    '',
    heldSentence(reason, window),
    ...notPublic(reason),
    `  PR hash:  ${prHash}`,
    `  Page:     ${pageUrl}`,
    `Change it${now} or give it up (add -o withdraw):${lost}`,
    `  ${command}`,
  ];
}
