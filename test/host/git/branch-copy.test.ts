/** How much is copied from upstream to the fork, where the host cannot bring a branch there by itself. */
import { describe, expect, it } from 'vitest';
import { copyBranch } from '../../../src/host/git/branch-copy.ts';
import { CopyAllowance } from '../../../src/host/git/copy-allowance.ts';
import type { GitTransport } from '../../../src/host/git/git-transport.ts';
import { oidNumber } from '../../support/objects.ts';
import { PatientClock } from '../support/scripted-host.ts';

const FORK = { owner: 'bot', name: 'hello' };
const PACK_BYTES = 100;
const HOUR = 3_600_000;

function world(maxBytes: number) {
  const [clock, allowance] = [new PatientClock(), new CopyAllowance(maxBytes)];
  let sentBytes = 0;
  const transport = {
    hostName: 'host.test',
    listRefs: async () => ({ refs: [{ name: 'refs/heads/main', oid: oidNumber(1) }] }),
    listHistory: async () => ({ kind: 'none-selected' }),
    async *pieces() {
      for (let piece = 0; piece < 4; piece++) yield new Uint8Array(PACK_BYTES / 4);
    },
    async fetchPack() {
      return transport.pieces();
    },
    async push(_: unknown, body: ReadableStream<Uint8Array>) {
      const commandBytes = 180;
      sentBytes += Math.max(0, (await new Response(body).arrayBuffer()).byteLength - commandBytes);
      return { unpackStatus: 'ok', commandStatuses: [{ refName: 'refs/heads/main', reason: null }] };
    },
  };
  const copy = (owner: string) => {
    const upstream = { repository: { owner, name: 'hello' }, name: 'main', tip: oidNumber(2) };
    return copyBranch(transport as unknown as GitTransport, FORK, upstream, { clock, allowance });
  };
  return { clock, copy, sent: () => sentBytes };
}

describe('a branch', () => {
  it('is copied over and over for one owner only until much was copied, and again an hour later', async () => {
    const { clock, copy, sent } = world(2 * PACK_BYTES);
    for (let time = 0; time < 2; time++) await copy('octo');
    for (const owner of ['octo', 'OCTO']) {
      await expect(copy(owner)).rejects.toMatchObject({
        code: 'refused',
        publicMessage: expect.stringContaining('copied too much'),
      });
    }
    expect(sent()).toBeLessThan(3 * PACK_BYTES);
    await copy('other');
    clock.at += HOUR;
    await copy('octo');
  });

  it('that is too much by itself is broken off', async () => {
    const { copy } = world(PACK_BYTES / 2);
    await expect(copy('octo')).rejects.toThrow('copied too much');
  });
});
