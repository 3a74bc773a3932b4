/** Upstream repositories with more refs than are kept, and with names that are not text. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_REFS } from '../../../src/git/wire/protocol-v2.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { send } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readPkts } from '../../support/pkt-line.ts';

const bed = useTestBed();

/** Adds branches that sort before all others. */
async function addRefs(upstream: Upstream, names: readonly (string | Buffer)[]): Promise<void> {
  const tip = await upstream.tip();
  const lines = names.map((name) => Buffer.concat([Buffer.from(`${tip} refs/heads/`), Buffer.from(name)]));
  const header = Buffer.from('# pack-refs with: peeled');
  const content = [header, ...lines, Buffer.alloc(0)].flatMap((line, i) =>
    i === 0 ? [line] : [Buffer.from('\n'), line],
  );
  await writeFile(join(upstream.path, 'packed-refs'), Buffer.concat(content));
}

async function advertisedRefs({ url }: Upstream): Promise<string[]> {
  const { status, body } = await send(`${url}/info/refs?service=git-receive-pack`);
  expect(status).toBe(200);
  const lines = readPkts(body).slice(2, -1);
  return lines.map((line) => (line?.toString() ?? '').replace(/\0.*|\n$/s, '').slice(41));
}

it('leaves out a branch whose name is not UTF-8', exhaustive, async () => {
  const contribution = await contribute(bed);
  await addRefs(contribution.upstream, [Buffer.from([0x61, 0xff])]);
  expect(await advertisedRefs(contribution.upstream)).toContain('refs/heads/main');
  await contribution.clone.commit();
  await expectAccepted(bed, contribution, await contribution.clone.push());
});

describe('an upstream with too many branches', exhaustive, () => {
  let contribution: Awaited<ReturnType<typeof contribute>>;

  beforeAll(async () => {
    contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await upstream.grow({ branch: 'next', from: 'main~1', count: 2 });
    await clone.git('fetch', '--quiet', 'origin', 'next');
    await addRefs(
      upstream,
      Array.from({ length: MAX_REFS + 10 }, (_, i) => `a/${i}`),
    );
  });

  // A preview makes no fork: one with as many refs takes the sandbox ten seconds.
  it('takes a push without a base, and says how to name one', async () => {
    const { clone } = contribution;
    await clone.commit();
    const shown = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic')).join('\n');
    expect(shown).toContain('If your work is not based on "main", add: -o base=<branch>');
    expect(shown).toMatch(/Base: +main$/m);
  });

  it('finds a named base that was not listed, and keeps its commits', async () => {
    const { clone } = contribution;
    await clone.git('switch', '--quiet', '-c', 'topic', 'FETCH_HEAD');
    await clone.commit();
    const shown = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:refs/for/next')).join('\n');
    expect(shown).toMatch(/Base: +next$/m);
    expect(shown).toContain('Its commit, by');
    expect(shown).not.toContain('-o base=<branch>');
  });
});
