/** Held pushes whose key, spool or format is gone, and clients that hold too much: each has a sentence, nothing is lost silently. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contribute } from './support/contribution.ts';
import { ALWAYS } from './support/failing-host.ts';
import { held, heldAs, pageOf, pass } from './support/held.ts';
import { remoteLines, statusTable } from './support/push-output.ts';
import { TestBed, useTestBed } from './support/test-bed.ts';
import { packOf, pushBody, readPushAnswer, RECEIVE_PACK, send } from './support/wire.ts';

describe('a held push', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-lost-'));
  let bed: TestBed;
  beforeAll(async () => {
    bed = await TestBed.start({ stateDir });
  });
  afterAll(async () => {
    await bed.verify();
    await bed.stop();
    rmSync(stateDir, { recursive: true, force: true });
  });

  /** Takes something away while the service does not run. */
  function without(folder: string): Promise<void> {
    const path = join(stateDir, folder);
    return bed.restart(() => {
      for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
    });
  }

  /** Those that have ended keep their page for two weeks. */
  function forgetEnded(): Promise<void> {
    const path = join(stateDir, 'do/gitveil-HeldPushes');
    return bed.restart(() => {
      for (const name of readdirSync(path).filter((file) => /^[0-9a-f]+\.sqlite$/.test(file))) {
        const database = new DatabaseSync(join(path, name));
        database.exec("DELETE FROM held WHERE state <> 'held'");
        database.close();
      }
    });
  }

  it('whose key is gone fails after some attempts, and says what to do', async () => {
    const { upstream, hash } = await held(bed);
    await without('kv');
    await expect.poll(async () => (await pass(bed), pageOf(bed, hash))).toMatch(/^200 Failed: /);
    expect(await pageOf(bed, hash)).toMatch(/the key of the held push is gone\s+Push it again/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('whose rows are gone fails, and says what to do', async () => {
    const { upstream, hash } = await held(bed);
    await without('do/gitveil-Spool');
    await expect.poll(async () => (await pass(bed), pageOf(bed, hash))).toMatch(/^200 Failed: /);
    expect(await pageOf(bed, hash)).toMatch(/Push it again/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('waits while the service has no bot account, and is published when it has one again', async () => {
    const { upstream, hash } = await held(bed);
    await bed.restart(() => {}, { HOSTING_TOKEN: '' });
    for (let time = 0; time < 5; time++) await pass(bed);
    expect(await pageOf(bed, hash)).toMatch(/^200 Held: /);
    await bed.restart();
    await expect.poll(async () => (await pass(bed), (await bed.host.pulls(upstream)).length)).toBe(1);
  });

  it('leaves its hash only where it is held, also if it was begun before', async () => {
    const { upstream, clone } = await contribute(bed);
    // The fork is known, so that it begins before the host fails.
    await clone.commit();
    await clone.push('origin', 'HEAD:first');
    await clone.commit();
    const failing = { method: 'POST', path: /git-receive-pack$/, times: ALWAYS, answer: { status: 503 } };
    bed.sandbox.faults.inject(failing);
    const hash = heldAs(await clone.push('-o', 'wait', 'origin', 'HEAD:topic'));
    bed.sandbox.faults.clear();
    const folder = join(stateDir, 'do/gitveil-PendingPush');
    const holds = (file: string) => existsSync(file) && readFileSync(file).includes(hash);
    await expect.poll(() => readdirSync(folder).filter((name) => holds(join(folder, name)))).toEqual([]);
    await expect.poll(async () => (await pass(bed), (await bed.host.pulls(upstream)).length)).toBe(2);
  });

  it('leaves nothing readable in the files of its object once it is published', async () => {
    const { upstream, hash } = await held(bed);
    const folder = join(stateDir, 'do/gitveil-HeldPushes');
    const filesWith = (text: string) =>
      readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
    expect(filesWith(hash)).not.toEqual([]);
    await forgetEnded();
    await expect.poll(async () => (await pass(bed), bed.host.pulls(upstream))).toHaveLength(1);
    await expect.poll(() => filesWith(hash)).toEqual([]);
  });

  it('that another version has stored in another way fails, and says what to do', async () => {
    const { upstream, hash } = await held(bed);
    const folder = join(stateDir, 'do/gitveil-HeldPushes');
    await bed.restart(() => {
      for (const name of readdirSync(folder).filter((file) => /^[0-9a-f]+\.sqlite$/.test(file))) {
        const database = new DatabaseSync(join(folder, name));
        // What stands there is taken for the version.
        database.exec('UPDATE held SET entry_bytes = entry_bytes + 1');
        database.close();
      }
    });
    await expect.poll(async () => (await pass(bed), pageOf(bed, hash))).toMatch(/^200 Failed: /);
    expect(await pageOf(bed, hash)).toMatch(/another version of this service[^]*Push it again/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });
});

describe('what is held', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-full-'));
  const bed = useTestBed({ stateDir, env: { HELD_MB: '10' } });
  afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

  const allFiles = (folder: string) =>
    readdirSync(join(stateDir, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));

  /** How many rows there are of what pushes have sent. */
  function sealedRows(): number {
    const path = allFiles('do/gitveil-Spool').find((file) => /\/[0-9a-f]+\.sqlite$/.test(file));
    const database = new DatabaseSync(path ?? '');
    const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'rows'").get();
    const count = table && database.prepare('SELECT count(*) AS count FROM rows').get()?.['count'];
    database.close();
    return Number(count ?? 0);
  }

  it('has a limit for one client, beyond which a push is refused with a way out, and nothing of it stays', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ files: { 'large.bin': randomBytes(1_200_000) } });
    const pushed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('the service holds too many pushes');
    expect(remoteLines(pushed).join('\n')).toContain('-o delay=0s');
    expect(await bed.host.pulls(upstream)).toEqual([]);
    await expect.poll(sealedRows).toBe(0);
    const keys = allFiles('kv').length;
    await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    await expect.poll(sealedRows).toBe(0);
    expect(allFiles('kv')).toHaveLength(keys);
    expect((await clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic')).code).toBe(0);
  });

  it('has the same limit for all networks of an IPv6 /48, and another one for the next', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ files: { 'large.bin': randomBytes(600_000) } });
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const newId = await clone.idOf('HEAD');
    const hold = async (address: string, ref: string): Promise<string | undefined> => {
      const body = pushBody({ commands: [{ newId, ref: `refs/heads/${ref}` }], pack, options: ['delay=1h'] });
      const headers = { 'Content-Type': RECEIVE_PACK, 'CF-Connecting-IP': address };
      const url = `${upstream.url}/git-receive-pack`;
      const answer = await send(url, { method: 'POST', person: clone.person, headers, body });
      return readPushAnswer(answer).report[1];
    };
    expect(await hold('2001:db8:48:1::1', 'one')).toBe('ok refs/heads/one');
    expect(await hold('2001:db8:48:2::1', 'two')).toContain('the service holds too many pushes');
    // The same push is the same hold, which has its room.
    expect(await hold('2001:db8:48:1::1', 'one')).toBe('ok refs/heads/one');
    expect(await hold('2001:db8:49:1::1', 'three')).toBe('ok refs/heads/three');
  });
});
