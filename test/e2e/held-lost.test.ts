/** Held pushes whose key, spool or format is gone, and clients that hold too much: each has a sentence, nothing is lost silently. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contribute } from './support/contribution.ts';
import { held, pageOf, pass } from './support/held.ts';
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
  const bed = useTestBed({ env: { HELD_MB: '10' } });

  it('has a limit for one client, beyond which a push is refused with a way out', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ files: { 'large.bin': randomBytes(1_200_000) } });
    const pushed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('the service holds too many pushes');
    expect(remoteLines(pushed).join('\n')).toContain('-o delay=0s');
    expect(await bed.host.pulls(upstream)).toEqual([]);
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
