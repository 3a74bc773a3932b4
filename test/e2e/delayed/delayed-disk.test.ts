/**
 * Reads the disk as a thief would, once a delayed push is published: a day and three weeks later,
 * no file holds the moment of its upload, raw or inflated, and none tells of its person.
 */
import { expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { delayed, published } from '../support/delayed.ts';
import { buildSetBack, movePlatformTimes } from '../support/earlier-state.ts';
import { inflatedFilesIn } from '../support/state-files.ts';
import { useOwnTestBed } from '../support/test-bed.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** As SQLite stores a time of these years in milliseconds. */
const TIME_BYTES = 6;

const bed = useOwnTestBed({ rebuild: buildSetBack, env: { CLOCK_BEHIND_MS: '0' } });

/** Files in which a moment between these two stands: as a number, as text, or in their name. */
function filesWithMoment(from: number, to: number): string[] {
  const isMoment = (at: number) => at >= from && at <= to;
  const found = inflatedFilesIn(bed.stateDir).filter(({ path, bytes }) => {
    const text = `${path}\n${bytes.toString('latin1')}`;
    // Behind the name of a blob, in hex.
    for (const [digits] of text.matchAll(/0{5}[1-9a-f][0-9a-f]{10}/g))
      if (isMoment(Number.parseInt(digits, 16))) return true;
    for (const [digits] of text.matchAll(/\d{13}/g)) if (isMoment(Number(digits))) return true;
    for (let at = 0; at + TIME_BYTES <= bytes.length; at++)
      if (isMoment(bytes.readUIntBE(at, TIME_BYTES))) return true;
    return false;
  });
  return [...new Set(found.map(({ path }) => path))];
}

it('nothing tells when it was pushed, a day and three weeks later', exhaustive, async () => {
  const from = Date.now();
  const { name } = await delayed(bed);
  const to = Date.now();
  // While it waits, its row has the time, and so do the rows of the limits.
  expect(filesWithMoment(from, to)).not.toEqual([]);
  await published(bed, name);
  // It learns the ids and dates of the commits.
  await bed.verify();
  const { search } = bed.tripwire.secrets;
  const traces = () => inflatedFilesIn(bed.stateDir).flatMap(({ bytes }) => search.search(bytes));
  let ahead = 0;
  for (const days of [1, 21]) {
    const moreMs = days * DAY_MS - ahead;
    ahead += moreMs;
    const env = { CLOCK_BEHIND_MS: String(-ahead) };
    await bed.restart(() => movePlatformTimes(bed.stateDir, -moreMs), env);
    await bed.service.runScheduled(Date.now() + ahead);
    await expect.poll(() => filesWithMoment(from, to)).toEqual([]);
    expect(traces()).toEqual([]);
  }
});
