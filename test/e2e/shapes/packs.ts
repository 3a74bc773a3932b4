/** Packs that judging tells apart: with deltas of what is not in them. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import type { Clone } from '../support/person.ts';
import { bannerOf } from '../support/push-output.ts';
import type { TestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import type { Shapes } from './shape.ts';
import { readReport } from '../../support/pkt-line.ts';

const longMessage = (index: number) =>
  `Step ${index}\n\n${'The same long explanation, over and over again, so that a delta pays off. '.repeat(12)}\n`;

async function deltifiedCommits({ path, person }: Clone, pack: Buffer): Promise<number> {
  const file = join(person.home, 'sent.pack');
  await person.mustGit(path, ['index-pack', '--fix-thin', '--stdin', file], { input: pack });
  const listing = (await person.mustGit(path, ['verify-pack', '-v', file])).toString();
  return listing.split('\n').filter((line) => /^\w{40} commit +(\d+ ){4}\w{40}$/.test(line)).length;
}

/** A clone with a chain of commits that are stored as deltas of each other. */
async function contributeDeltas(bed: TestBed): Promise<Contribution> {
  const contribution = await contribute(bed);
  await contribution.clone.commitMany(40, longMessage);
  await contribution.clone.git('repack', '-adfq', '--window=50', '--depth=50');
  return contribution;
}

export const PACKS: Shapes = {
  'with commits as deltas that name their base are taken': async (bed) => {
    const { clone, person, upstream } = await contributeDeltas(bed);
    // Without --delta-base-offset every delta is a ref-delta.
    const pack = await packOf(clone, ['HEAD', '^origin/main'], '--thin');
    expect(await deltifiedCommits(clone, pack)).toBeGreaterThan(10);
    const newId = await clone.git('rev-parse', 'HEAD');
    const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack });
    const answer = readReport((await sendPush(upstream.url, person, body)).body);
    expect(answer.report).toEqual(['unpack ok', 'ok refs/heads/topic']);
    const { branch } = bannerOf({ stderr: answer.progress.map((line) => `remote: ${line}`).join('\n') });
    expect(await readHistory(bed.host.forkPath(upstream) as string, '^main', branch)).toHaveLength(40);
  },

  'that are thin have their trees and blobs completed from the fork': async (bed) => {
    const content = Array.from({ length: 400 }, (_, index) => `line ${index}\n`).join('');
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'long.txt': content } });
    const person = bed.person();
    const clone = await person.clone(upstream.url);
    await clone.commit({ files: { 'long.txt': content.replace('line 200\n', 'line two hundred\n') } });
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    const [sent] = await bed.host.pushes(upstream);
    expect(sent?.isComplete).toBe(true);
    // The blob travels as a delta of upstream's.
    expect(sent?.fragments.length).toBeGreaterThan(0);
    const blob = sent?.objects.find(({ type }) => type === 'blob');
    expect(blob?.content.toString()).toContain('line two hundred');
  },
};
