/** Listings of history take their memory from what all requests share, and give it back. */
import { expect, it } from 'vitest';
import { GitTransport } from '../../src/host/git/git-transport.ts';
import { SmartHttp } from '../../src/host/git/smart-http.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { commitContent } from '../support/objects.ts';
import { buildPack, oidOf } from '../support/pack-builder.ts';
import { piecesOf } from '../support/byte-chunks.ts';
import { PatientClock, ScriptedHost } from './support/scripted-host.ts';
import { FLUSH, pktText } from '../support/pkt-line.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const MAX_BYTES = 8 * 1024 * 1024;
const MiB = 1024 * 1024;

const listingOf = (commits: number): Buffer =>
  answerWith(Array.from({ length: commits }, (_, i) => commitContent({ message: `Change ${i}\n` })));

function answerWith(commits: readonly Buffer[]): Buffer {
  const entries = commits.map((content) => ({ type: 'commit' as const, content }));
  const bands = piecesOf(buildPack(entries).bytes, 60_000).map((piece) =>
    pktText(`\u0001${Buffer.from(piece).toString('latin1')}`),
  );
  return Buffer.from(pktText('packfile\n') + bands.join('') + FLUSH, 'latin1');
}

/** Each listing is made by a request of its own. */
function list(budget: MemoryBudget, clock: PatientClock, body: BodyInit, onWait?: () => void) {
  const http = new SmartHttp('https://host.test', null, new ScriptedHost(() => new Response(body)));
  const transport = new GitTransport(http, clock, budget.open(clock), null);
  return transport.listHistory(REPOSITORY, { wants: ['a'.repeat(40)] }, MAX_BYTES, onWait);
}

it('gives back all memory, whether it is read to its end or breaks off', async () => {
  const [budget, clock] = [new MemoryBudget(4 * MiB), new PatientClock()];
  const listing = listingOf(3_000);
  await expect(list(budget, clock, listing)).resolves.toMatchObject({
    kind: 'listed',
    commits: { size: 3_000 },
  });
  expect([budget.heldBytes, clock.slept]).toEqual([0, []]);
  await expect(list(budget, clock, listing.subarray(0, 100_000))).rejects.toMatchObject({
    code: 'unreachable',
  });
  expect(budget.heldBytes).toBe(0);
});

it('waits for memory, says so first, and goes on once there is some', async () => {
  const [budget, clock] = [new MemoryBudget(MiB), new PatientClock()];
  const holds = [2 * MiB, MiB].map((bytes) => {
    const hold = budget.open(clock);
    hold.claim().setNow(bytes);
    return hold;
  });
  let waits = 0;
  const listing = list(budget, clock, listingOf(3_000), () => {
    waits += 1;
    holds[0]?.end();
  });
  await expect(listing).resolves.toMatchObject({ kind: 'listed', commits: { size: 3_000 } });
  expect(waits).toBe(1);
  expect(budget.heldBytes).toBe(MiB);
});

it('that gets no memory is refused as busy', async () => {
  const [budget, clock] = [new MemoryBudget(MiB), new PatientClock()];
  for (const bytes of [2 * MiB, MiB]) budget.open(clock).claim().setNow(bytes);
  await expect(list(budget, clock, listingOf(3_000))).rejects.toMatchObject({ code: 'busy' });
});

it.each([
  [88, 'listed'],
  [91, 'too-large'],
])('whose commits name %i thousand parents that are not listed is %s', exhaustive, async (...row) => {
  const [thousands, kind] = row;
  const [budget, clock] = [new MemoryBudget(64 * MiB), new PatientClock()];
  const commits = Array.from({ length: thousands }, (_, i) => {
    const parents = Array.from({ length: 1_000 }, (_each, j) => oidOf('commit', Buffer.from(`${i} ${j}`)));
    return commitContent({ parents, message: `Change ${i}\n` });
  });
  await expect(list(budget, clock, answerWith(commits))).resolves.toMatchObject({ kind });
  expect(budget.heldBytes).toBe(0);
});
