/** A moment that nobody can foretell. */
import { randomInt } from 'node:crypto';

/** From a cryptographic source, each millisecond as likely. @param from @param to milliseconds since 1970. */
export function randomMoment(from: number, to: number): number {
  return to <= from ? from : randomInt(from, to + 1);
}
