/** How much of the refs of upstream an isolate remembers. */
import { beforeEach, expect, it } from 'vitest';
import { forgetEverything } from '../../src/isolate/recent.ts';
import { discoveredRefs, listUpstreamRefs } from '../../src/upstream/upstream-refs.ts';

const OID = 'a'.repeat(40);
const START = 1_800_000_000_000;
const MOST_BYTES = 8 * 1024 * 1024;

let asked = 0;

beforeEach(() => {
  forgetEverything();
  asked = 0;
});

const discover = async (): Promise<void> => {};

/** A host whose repositories all have so many branches. */
function hostWith(branches: number, nameLength: number) {
  const refs = Array.from({ length: branches }, (_, at) => ({
    name: `refs/heads/${String(at).padStart(nameLength, 'x')}`,
    oid: OID,
  }));
  const list = { refs, head: 'refs/heads/main', headTip: OID, hasAllBranches: true };
  const listRefs = async () => {
    asked += 1;
    return list;
  };
  return { clock: { now: () => START }, transport: { hostName: 'host', discover, listRefs } } as never;
}

const named = (at: number) => ({ owner: 'octo', name: `repo-${at}` });

it('is counted in bytes: a hundred repositories with long names leave no more than a few', async () => {
  const host = hostWith(200, 1_000);
  for (let at = 0; at < 100; at++) await listUpstreamRefs(host, named(at));
  asked = 0;
  for (let at = 99; at >= 0; at--) await discoveredRefs(host, named(at));
  const remembered = 100 - asked;
  expect(remembered).toBeGreaterThan(10);
  expect(remembered * 200 * 2 * 1_000).toBeLessThan(MOST_BYTES);
});

it('does not hold one list that is so long that others had no room', async () => {
  const host = hostWith(3_000, 10);
  await listUpstreamRefs(host, named(1));
  await discoveredRefs(host, named(1));
  expect(asked).toBe(2);
});
