/**
 * Until it is published, the host gets no request for a delayed push that a clone of the repository would not cause: all
 * requests are compared, one by one.
 */
import { describe, expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted } from '../support/contribution.ts';
import { delayedAs, published } from '../support/delayed.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { TEST_HEADER } from '../support/tripwire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/** What the host can tell of a request: where it goes, what it is about, and with whose account. */
function kindsSince(seen: number): string[] {
  return bed.sandbox.captured
    .filter(({ headers }) => headers[TEST_HEADER] === undefined)
    .slice(seen)
    .map(({ method, path, headers, body }) => {
      const said = body.toString('latin1');
      const command = /command=([\w-]+)/.exec(said)?.[1] ?? '';
      const prefixes = [...said.matchAll(/ref-prefix (\S+)/g)].map(([, prefix]) => prefix).join(' ');
      const account = headers['authorization'] === undefined ? '' : ' with an account';
      return `${method} ${path} ${command} ${prefixes}${account}`;
    });
}

const seenSoFar = (): number =>
  bed.sandbox.captured.filter(({ headers }) => headers[TEST_HEADER] === undefined).length;

/** What cloning and fetching causes. */
async function causedByClone({ upstream }: Contribution): Promise<Set<string>> {
  const seen = seenSoFar();
  const person = bed.person();
  for (const filter of [[], ['--filter=tree:0', '--no-checkout']]) {
    const clone = await person.clone(upstream.url, ...filter);
    await clone.git('fetch', 'origin');
  }
  return new Set(kindsSince(seen));
}

async function expectQuiet(contribution: Contribution, push: () => Promise<unknown>): Promise<void> {
  const allowed = await causedByClone(contribution);
  const seen = seenSoFar();
  await push();
  const caused = kindsSince(seen);
  expect(caused.filter((kind) => !allowed.has(kind))).toEqual([]);
}

describe('the host hears no more of it than of a clone:', () => {
  it('a push with a delay, to a repository that the service has never seen', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    // Another push has told the service its own name.
    const other = await contribute(bed);
    await other.clone.commit();
    await expectAccepted(bed, other, await other.clone.push());
    await clone.commit();
    await expectQuiet(contribution, async () =>
      delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic')),
    );
  });

  it('a push with a delay to a repository that it has pushed to a moment ago', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    await expectAccepted(bed, contribution, await clone.push());
    await clone.commit({ message: 'More\n' });
    await expectQuiet(contribution, async () => {
      delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
      const again = await clone.push('-o', 'delay=2h', 'origin', 'HEAD:topic');
      expect(again.stderr).toContain('This push waits already.');
    });
  });

  it('an update with a delay, of a file that upstream has', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ files: { 'AUTHORS.md': `Somebody\n${'line\n'.repeat(50)}` } });
    await clone.git('pull', '--quiet', 'origin', upstream.defaultBranch);
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    await clone.commit({ files: { 'AUTHORS.md': `Somebody\n${'line\n'.repeat(51)}` } });
    const push = ['-o', `pr-hash=${banner.prHash}`, '-o', 'delay=1h', '-o', 'publish-names'] as const;
    let name = '';
    await expectQuiet(contribution, async () => {
      name = delayedAs(await clone.push(...push, 'origin', 'HEAD:topic'));
    });
    await published(bed, name);
  });
});
