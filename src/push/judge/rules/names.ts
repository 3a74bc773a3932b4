/** Rule for names, addresses, credentials and ids that would become public. */
import type { Finding } from '../../../words/finding.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { Known } from '../known.ts';

export function names({ searched: { refusal, findings } }: Pick<Known, 'searched'>): readonly Finding[] {
  const refused = refusal === null ? [] : [new Refusal('names', refusal.reason, refusal.lines)];
  return [...refused, ...findings];
}
