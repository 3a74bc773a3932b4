/**
 * SIGNING_KEY: commits that Git verifies with the service's public key. Who has signed is the
 * service; the person's own signature never leaves it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/config.ts';
import { isInstalled } from '../../support/is-installed.ts';
import { contribute, type Contribution } from '../support/contribution.ts';
import { delayed, published, publishedAs } from '../support/delayed.ts';
import { FormClient, savedIn } from '../support/form-client.ts';
import { readHistory } from '../support/objects.ts';
import type { GitRun } from '../support/person.ts';
import { bannerOf } from '../support/push-output.ts';
import { neutralEnvironment, run } from '../support/run.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const folder = mkdtempSync(join(tmpdir(), 'gitveil-keys-'));
const signers = join(folder, 'signers');

/** Makes a key with ssh-keygen, and reads its file. */
function newKey(name: string, ...args: string[]): string {
  const path = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-C', 'ada@laptop', '-f', path, ...args]);
  return readFileSync(path, 'latin1');
}

const SIGNING_KEY = isInstalled('ssh-keygen') ? newKey('key', '-t', 'ed25519', '-N', '') : '';

describe.skipIf(SIGNING_KEY === '')('signed commits', () => {
  const bed = useOwnTestBed({ env: { SIGNING_KEY } });
  beforeAll(async () => {
    const answer = await fetch(`${bed.service.url}/.well-known/gitveil-signing-key`);
    writeFileSync(signers, await answer.text());
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The ids of a branch's new commits, each of which Git has verified. */
  async function verified(upstream: Upstream, branch: string): Promise<string[]> {
    const fork = bed.host.forkPath(upstream) as string;
    const ids = (await readHistory(fork, '^main', branch)).map(({ oid }) => oid);
    const settings = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${signers}`];
    const env = neutralEnvironment({ GIT_CONFIG_GLOBAL: '/dev/null' });
    const told = await run('git', [...settings, 'verify-commit', ...ids], { cwd: fork, env });
    expect(told.code, told.stderr).toBe(0);
    bed.tripwire.tolerate(
      'the service signs',
      ({ secret, context }) => secret.kind === 'signature' && context.includes('.gpgsig -----BEGIN SSH'),
    );
    expect(told.stderr.match(/Good "git" signature for 127\.0\.0\.1 with ED25519 key/g)).toHaveLength(
      ids.length,
    );
    return ids;
  }

  const verifiedOf = ({ upstream }: Contribution, pushed: GitRun): Promise<string[]> =>
    verified(upstream, bannerOf(pushed).branch);

  it('are verified by Git, and keep their ids in an update', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit({ message: 'One\n' });
    await clone.commit({ message: 'Two\n' });
    await clone.git('switch', '--quiet', '-c', 'side', 'HEAD~1');
    await clone.commit({
      message: new Uint8Array(Buffer.from('Three: \xe9, without a line feed', 'latin1')),
    });
    await clone.git('switch', '--quiet', '-');
    await clone.git('merge', '--quiet', '--no-ff', '-m', 'Bring both together', 'side');
    const first = await clone.push('origin', 'HEAD:topic');
    const before = await verifiedOf(contribution, first);
    expect(before).toHaveLength(4);
    await clone.commit({ message: 'Five\n' });
    const again = await clone.push('-o', `pr-hash=${bannerOf(first).prHash}`, 'origin', 'HEAD:topic');
    expect((await verifiedOf(contribution, again)).slice(0, 4)).toEqual(before);
  });

  it('come from a delayed push, and from a squashed one', async () => {
    const { upstream, name } = await delayed(bed, {}, ['-o', 'delay=1h', '-o', 'squash']);
    const { prHash } = publishedAs(await published(bed, name));
    expect(await verified(upstream, `anon-${prHash}`)).toHaveLength(1);
  });

  it('come from a form', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const client = new FormClient(bed.service.url, bed.person());
    const path = `/v1/gh/${upstream.fullName}/change`;
    const { fields } = await client.get(`${path}?path=a.txt`);
    const typed = { ...fields, text: 'two\n', title: 'Say it better', description: '', step: 'preview' };
    const shown = await client.post(path, typed);
    const answer = await client.post(path, { ...shown.fields, step: 'open' });
    expect(answer.heading, answer.problem).toBe('Your pull request is open');
    const prHash = savedIn(answer.html, 'Hash');
    expect(await verified(upstream, `anon-${prHash}`)).toHaveLength(1);
  });

  it('are shown by a preview as they leave', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ message: 'One\n' });
    const shown = await contribution.clone.push('-o', 'preview', 'origin', 'HEAD:topic');
    expect(shown.stderr).toMatch(/[0-9a-f]{10} {2}\S+ \S+ UTC {2}One/);
  });

  it('are signed by the new key after a rotation, in one pull request', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ message: 'One\n' });
    const first = await clone.push('origin', 'HEAD:topic');
    const [before] = await verifiedOf(contribution, first);
    const next = newKey('next', '-t', 'ed25519', '-N', '');
    await bed.restart(undefined, { SIGNING_KEY: next });
    const answer = await fetch(`${bed.service.url}/.well-known/gitveil-signing-key`);
    writeFileSync(signers, await answer.text());
    await clone.commit({ message: 'Two\n' });
    const again = await clone.push('-o', `pr-hash=${bannerOf(first).prHash}`, 'origin', 'HEAD:topic');
    const [after] = await verifiedOf(contribution, again);
    expect(after).not.toBe(before);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it.each([
    ['encrypted', ['-t', 'ed25519', '-N', 'secret words'], 'It is encrypted'],
    ['of RSA', ['-t', 'rsa', '-b', '2048', '-N', ''], 'It is no Ed25519 key'],
    ['PEM', ['-t', 'ecdsa', '-m', 'PEM', '-N', ''], 'It is not in the format of OpenSSH'],
  ])('need a key that is not %s', (kind, args, fault) => {
    const result = parseConfig({ SIGNING_KEY: newKey(`bad-${kind.replace(' ', '-')}`, ...args) });
    expect(result.kind === 'invalid' && result.problems[0]?.message).toMatch(new RegExp(`\\. ${fault}$`));
  });
});
