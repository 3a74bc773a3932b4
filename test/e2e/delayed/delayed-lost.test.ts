/**
 * Delayed pushes whose key, spool or format is gone, and clients that hold too much: each has a
 * sentence, nothing is lost silently.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contribute } from '../support/contribution.ts';
import { delayed, pageOf, pass, published } from '../support/delayed.ts';
import { remoteLines, statusTable } from '../support/push-output.ts';
import { filesWith, inDatabases, pathsIn } from '../support/state-files.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, RECEIVE_PACK, send } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

/** The random name of the client whose push waits. */
function clientIn(folder: string): string {
  const waiting = "SELECT client FROM delayed_pushes WHERE state = 'waiting'";
  const row = inDatabases(folder, (database) => database.prepare(waiting).get()).find(Boolean);
  if (row === undefined) throw new Error('nothing waits');
  return String(row['client']);
}

describe('a delayed push', exhaustive, () => {
  const bed = useOwnTestBed();
  const ofPushes = () => join(bed.stateDir, 'do/gitveil-DelayedPushes');

  /** Takes something away while the service does not run. */
  function without(folder: string): Promise<void> {
    const path = join(bed.stateDir, folder);
    return bed.restart(() => {
      for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
    });
  }

  /** Changes the list of delayed pushes while the service does not run. */
  const change = (sql: string): Promise<void> =>
    bed.restart(() => void inDatabases(ofPushes(), (database) => database.exec(sql)));

  it('whose key is gone fails after some attempts, and says what to do', async () => {
    const { upstream, name } = await delayed(bed);
    await without('kv');
    await expect.poll(async () => (await pass(bed), pageOf(bed, name))).toMatch(/^200 Failed\n/);
    expect(await pageOf(bed, name)).toMatch(/its key is gone\s+Push it again/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('whose rows are gone fails, and says what to do', async () => {
    const { upstream, name } = await delayed(bed);
    await without('do/gitveil-Spool');
    await expect.poll(async () => (await pass(bed), pageOf(bed, name))).toMatch(/^200 Failed\n/);
    expect(await pageOf(bed, name)).toMatch(/Push it again/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('waits while the service has no bot account, and is published when it has one again', async () => {
    const { upstream, name } = await delayed(bed);
    await bed.restart(() => {}, { HOSTING_TOKEN: '' });
    for (let time = 0; time < 5; time++) await pass(bed);
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
    await bed.restart();
    await expect.poll(async () => (await pass(bed), (await bed.host.pulls(upstream)).length)).toBe(1);
  });

  it('leaves nothing readable in the files of its object once it is published', async () => {
    const { upstream, name } = await delayed(bed);
    const client = clientIn(ofPushes());
    expect(filesWith(ofPushes(), client)).not.toEqual([]);
    // Those that have ended keep their page for two weeks.
    await change("DELETE FROM delayed_pushes WHERE state <> 'waiting'");
    await published(bed, name);
    // After ten seconds the object sleeps, and then its journal would go in any case.
    await expect.poll(() => filesWith(ofPushes(), client), { timeout: 5_000 }).toEqual([]);
    await bed.host.onlyPull(upstream);
  });

  it('that another version has stored in another way fails, and says what to do', async () => {
    const { upstream, name } = await delayed(bed);
    // What stands there is taken for the version.
    await change(
      "UPDATE delayed_pushes SET value = json_set(value, '$.entryBytes', (value ->> 'entryBytes') + 1)",
    );
    await expect.poll(async () => (await pass(bed), pageOf(bed, name))).toMatch(/^200 Failed\n/);
    expect(await pageOf(bed, name)).toMatch(/another version of this service[^]*Push it again/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });
});

describe('what waits', exhaustive, () => {
  const bed = useOwnTestBed({ env: { DELAYED_MB: '10' } });

  /** The stand-in for KV removes a value some time after its key. */
  const keptKeys = () => pathsIn(bed.stateDir).filter((file) => file.includes('/DELAYED_KEYS/'));

  /** Whether there are rows of what pushes have sent, for each of the objects that keep them. */
  const hasRows = () =>
    inDatabases(join(bed.stateDir, 'do/gitveil-Spool'), (database) => {
      const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'rows'").get();
      return table !== undefined && database.prepare('SELECT 1 FROM rows').get() !== undefined;
    });

  it('has a limit for one client, beyond which a push is refused with a way out, and nothing of it stays', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ files: { 'large.bin': randomBytes(1_200_000) } });
    const pushed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('too many pushes wait');
    expect(remoteLines(pushed).join('\n')).toContain('-o delay=0s');
    expect(await bed.host.pulls(upstream)).toEqual([]);
    await expect.poll(hasRows).not.toContain(true);
    await expect.poll(keptKeys).toEqual([]);
    expect((await clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic')).code).toBe(0);
  });

  it('has the same limit for all networks of an IPv6 /48, and another one for the next', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ files: { 'large.bin': randomBytes(300_000) } });
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const newId = await clone.idOf('HEAD');
    const hold = async (address: string, ref: string): Promise<string | undefined> => {
      const body = pushBody({ commands: [{ newId, ref: `refs/heads/${ref}` }], pack, options: ['delay=1h'] });
      const headers = { 'Content-Type': RECEIVE_PACK, 'CF-Connecting-IP': address };
      const url = `${upstream.url}/git-receive-pack`;
      const answer = await send(url, { method: 'POST', person: clone.person, headers, body });
      return readReport(answer.body).report[1];
    };
    expect(await hold('2001:db8:48:1::1', 'one')).toBe('ok refs/heads/one');
    expect(await hold('2001:db8:48:2::1', 'two')).toContain('too many pushes wait');
    // The same push waits already, and has its room.
    expect(await hold('2001:db8:48:1::1', 'one')).toBe('ok refs/heads/one');
    expect(await hold('2001:db8:49:1::1', 'three')).toBe('ok refs/heads/three');
  });
});
