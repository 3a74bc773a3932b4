/**
 * A credential tells its issuer whose it is, and hosts report what they find: what is proven to be
 * one does not leave.
 */
import { describe, expect, it } from 'vitest';
import { LIKELY, PROVEN } from '../../support/made-up-credentials.ts';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

const REASON = 'a credential would become public';
const LOOKS =
  'This looks like a credential, by which its issuer knows you. Check it before it becomes public:';

/**
 * Picks some of the kinds. All of them, by the search alone: test/git/search/credentials.test.ts.
 */
const some = (kinds: Readonly<Record<string, () => string>>) =>
  Object.entries(kinds).filter(([kind]) => ['of npm', 'in PEM', 'of AWS', 'in an address'].includes(kind));

it.each(some(PROVEN))('%s is refused, and can be published on purpose', async (_, make) => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  const secret = make();
  await clone.commit({ files: { 'deploy/run.sh': `KEY='${secret}'\n` } });
  const lines = await expectRefused(bed, upstream, await clone.push(), REASON);
  expect(lines.join('\n')).toMatch(/deploy\/run\.sh: a (?:token|private key)/);
  expect(lines).toContain('To publish it anyway, add: -o publish-names');
  expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$/)).toEqual([]);
  if (secret.includes('-----BEGIN '))
    bed.tripwire.tolerate('published on purpose', (leak) => leak.secret.kind === 'signature');
  await expectAccepted(bed, contribution, await clone.push('-o', 'publish-names', 'origin', 'HEAD:topic'));
});

it.each(some(LIKELY))('%s is only told, before it is published', async (_, make) => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ files: { 'deploy/run.sh': `KEY='${make()}'\n` } });
  const preview = await clone.push('-o', 'preview', 'origin', 'HEAD:topic');
  expect(remoteLines(preview)).toContain(LOOKS);
  const pushed = await clone.push();
  expect(remoteLines(pushed)).toContain(LOOKS);
  await expectAccepted(bed, contribution, pushed);
});

describe('a push with more places that look like a credential than are looked at', () => {
  it.each([
    ['tens of thousands', 30_000, false],
    ['millions', 1_200_000, true],
  ])(
    'is told only of millions that what is no more than a beginning was not searched further: %s',
    exhaustive,
    async (_, count, isTold) => {
      const contribution = await contribute(bed);
      const { clone } = contribution;
      const files = { 'a.txt': '://'.repeat(count), 'b.txt': ' AKIA'.repeat(count) };
      await clone.commit({ files });
      const pushed = await clone.push();
      await expectAccepted(bed, contribution, pushed);
      const told = 'Not searched further for a password in an address and a key id of AWS';
      expect(remoteLines(pushed).join('\n').includes(told)).toBe(isTold);
    },
  );
});
