/**
 * The checks of a push that an operator can switch off: each is on its own, and one that is off
 * silences no other.
 */
import { describe, expect, it } from 'vitest';
import { LIKELY, PROVEN } from '../../support/made-up-credentials.ts';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const WORKFLOW = { '.github/workflows/new.yml': 'on: push\n' };
const CHANGES_WORKFLOWS = 'This changes workflows (.github/workflows/new.yml)';
const SUBMODULE = 'This push changes submodules. It names these commits:';
const CREDENTIAL = 'a credential would become public';
const NAME = 'your name would become public';
const secretOf = (kinds: Readonly<Record<string, () => string>>): string => Object.values(kinds)[0]?.() ?? '';

const nameless = useOwnTestBed({ env: { IDENTITY_CHECK: 'off', PUSH_SECRETS: 'refuse' } });

describe('IDENTITY_CHECK=off', () => {
  it('does not silence new workflows and submodules', async () => {
    const contribution = await contribute(nameless);
    const { clone } = contribution;
    await clone.commit({ files: WORKFLOW });
    // Alone: where submodules may be, all folders are compared anyway.
    const alone = await clone.push('-o', 'preview', 'origin', 'HEAD:topic');
    expect(remoteLines(alone).join('\n')).toContain(CHANGES_WORKFLOWS);
    await clone.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`);
    await clone.git('commit', '--quiet', '--message', 'Both');
    const pushed = await clone.push();
    const lines = remoteLines(pushed).join('\n');
    expect(lines).toContain(CHANGES_WORKFLOWS);
    expect(lines).toContain(SUBMODULE);
    await expectAccepted(nameless, contribution, pushed);
  });

  it('lets a name through, says so in a preview, and shows none of it as found', exhaustive, async () => {
    const contribution = await contribute(nameless);
    const { clone, person } = contribution;
    nameless.tripwire.tolerate('published on purpose', () => true);
    await clone.commit({ files: { 'mine.txt': `by ${person.authorName}\n` } });
    const preview = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic')).join('\n');
    expect(preview).toContain('This service does not search for the names of the commits’ authors.');
    expect(preview).not.toContain('The service searched for');
    const pushed = await clone.push();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(remoteLines(pushed).join('\n')).not.toContain('mine.txt');
  });

  it.each([
    ['in a file', LIKELY, (secret: string) => ({ files: { 'run.sh': `KEY='${secret}'\n` } })],
    ['in a message', PROVEN, (secret: string) => ({ message: `Use ${secret}\n` })],
  ] as const)(
    'lets no credential through, with PUSH_SECRETS=refuse: %s',
    exhaustive,
    async (_, kinds, commitOf) => {
      const contribution = await contribute(nameless);
      const { clone, upstream } = contribution;
      await clone.commit(commitOf(secretOf(kinds)));
      const lines = await expectRefused(nameless, upstream, await clone.push(), CREDENTIAL);
      expect(lines.join('\n')).not.toContain('The service searched for');
    },
  );
});

const careless = useOwnTestBed({ env: { PUSH_SECRETS: 'off' } });

describe('PUSH_SECRETS=off', () => {
  it('lets a credential through, and no name', exhaustive, async () => {
    const contribution = await contribute(careless);
    const { clone, upstream, person } = contribution;
    await clone.commit({ files: { 'run.sh': `KEY='${secretOf(PROVEN)}'\n` } });
    const pushed = await clone.push();
    expect(pushed.stderr).not.toContain('credential');
    await expectAccepted(careless, contribution, pushed);
    await clone.commit({ files: { 'mine.txt': `by ${person.authorName}\n` } });
    const other = await clone.push('origin', 'HEAD:other');
    expect(other.stderr).toContain(NAME);
    expect(await careless.host.pulls(upstream)).toHaveLength(1);
  });
});

const warning = useOwnTestBed({ env: { IDENTITY_CHECK: 'warn' } });

describe('IDENTITY_CHECK=warn', () => {
  it('still refuses a credential that is proven, and only for that', exhaustive, async () => {
    const contribution = await contribute(warning);
    const { clone, upstream, person } = contribution;
    const files = { 'a.txt': `by ${person.authorName}\n`, 'run.sh': `KEY='${secretOf(PROVEN)}'\n` };
    await clone.commit({ files });
    const lines = await expectRefused(warning, upstream, await clone.push(), CREDENTIAL);
    expect(lines.join('\n')).toContain('by ');
    expect(lines).toContain('To publish it anyway, add: -o publish-names');
  });
});
