/**
 * Which commits to advertise as `.have`, so that a clone of any age finds one near its own base.
 *
 * All of the newest ones, then fewer and fewer: at worst, a client sends the commits between two of them again. 200
 * lines cover some 1,500 commits and cost 10 KB.
 */
import type { Oid } from '../objects/oid.ts';

const DENSE = 64;
const PER_STEP = 32;
const MAX_HAVES = 200;

/** @param newestFirst upstream's recent commits. */
export function selectHaves(newestFirst: readonly Oid[]): Oid[] {
  const haves: Oid[] = [];
  let step = 1;
  for (let index = 0; index < newestFirst.length && haves.length < MAX_HAVES; index += step) {
    haves.push(newestFirst[index] as Oid);
    if (haves.length >= DENSE && (haves.length - DENSE) % PER_STEP === 0) step *= 2;
  }
  return haves;
}
