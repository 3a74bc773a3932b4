/**
 * Pushes whose body is compressed with gzip, as JGit sends them when that makes them smaller: sound ones are taken,
 * damaged ones refused where Git shows it, and bombs stopped before they fill the memory.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPack } from '../../support/pack-builder.ts';
import { RawConnection } from '../support/raw-http.ts';
import {
  expectNothingMade,
  expectStillServing,
  makeSoundPush,
  REF,
  type SoundPush,
} from '../support/sound-push.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { pushBody, readPushAnswer, RECEIVE_PACK, send, type WireAnswer } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const MiB = 1024 * 1024;
const bed = useOwnTestBed();
let sound: SoundPush;

beforeAll(async () => {
  sound = await makeSoundPush(bed);
});

const bodyOf = ({ tip, entries }: SoundPush) =>
  pushBody({ commands: [{ newId: tip, ref: REF }], pack: buildPack(entries).bytes });

function sendGzip(
  { upstream, person }: SoundPush,
  body: Uint8Array | readonly Uint8Array[],
  headers: Readonly<Record<string, string>> = {},
): Promise<WireAnswer> {
  return send(`${upstream.url}/git-receive-pack`, {
    method: 'POST',
    person,
    body,
    headers: { 'Content-Type': RECEIVE_PACK, 'Content-Encoding': 'gzip', ...headers },
  });
}

describe('a compressed push', exhaustive, () => {
  it.each<[what: string, encode: (plain: Buffer) => Uint8Array | readonly Uint8Array[], encoding: string]>([
    ['in one piece', (plain) => gzipSync(plain), 'gzip'],
    ['under its old name', (plain) => gzipSync(plain), 'x-gzip'],
    ['not compressed at all inside', (plain) => gzipSync(plain, { level: 0 }), 'GZIP'],
    ['byte by byte', (plain) => [...gzipSync(plain)].map((byte) => Uint8Array.of(byte)), 'gzip'],
    [
      'in two members, with zeros behind them',
      (plain) =>
        Buffer.concat([gzipSync(plain.subarray(0, 100)), gzipSync(plain.subarray(100)), Buffer.alloc(50)]),
      'gzip',
    ],
  ])('%s is taken', async (_, encode, encoding) => {
    const push = await makeSoundPush(bed);
    const answer = await sendGzip(push, encode(bodyOf(push)), { 'Content-Encoding': encoding });
    expect(readPushAnswer(answer).report).toEqual(['unpack ok', `ok ${REF}`]);
    expect(await bed.host.pulls(push.upstream)).toHaveLength(1);
  });

  it.each<[what: string, encode: (plain: Buffer) => Uint8Array]>([
    ['that is empty', () => Buffer.alloc(0)],
    ['that is not compressed at all', (plain) => plain],
    ['cut in its header', (plain) => gzipSync(plain).subarray(0, 8)],
    ['cut in its pack', (plain) => gzipSync(plain, { level: 0 }).subarray(0, plain.length - 100)],
    ['cut before its checksum', (plain) => gzipSync(plain).subarray(0, -8)],
    ['of a wrong length', (plain) => Buffer.concat([gzipSync(plain).subarray(0, -1), Buffer.from([7])])],
    ['with garbage behind it', (plain) => Buffer.concat([gzipSync(plain), Buffer.from('garbage')])],
  ])('%s is refused in-band, and nothing of it stays', async (_, encode) => {
    const answer = await sendGzip(sound, encode(bodyOf(sound)));
    expect(answer.status).toBe(200);
    const { report, errors, progress } = readPushAnswer(answer);
    const reason = 'push rejected: the push arrived damaged';
    // The ref is named if it came out before the damage was seen.
    expect([report, [...report, `ng ${REF} ${reason}`]]).toContainEqual([
      'unpack incomplete pack',
      `ng ${REF} ${reason}`,
    ]);
    expect(errors).toEqual([reason]);
    expect(progress.join('\n')).toMatch(/gzip.*\. Push again/);
    await expectNothingMade(bed, sound);
  });
});

/** The largest resident memory of the service since the last reset, in MiB. */
function peakMiB(): number {
  const status = readFileSync(`/proc/${bed.service.workerdPid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

describe('a gzip bomb', exhaustive, () => {
  it('is 413 where what comes out of it passes 100 MB, and costs little memory', async () => {
    const commands = bodyOf(sound).subarray(0, 200);
    const bomb = gzipSync(Buffer.concat([commands, Buffer.alloc(300 * MiB)]));
    expect(bomb.length).toBeLessThan(MiB);
    // What the first compressed push warms up does not count.
    await sendGzip(sound, gzipSync(commands));
    writeFileSync(`/proc/${bed.service.workerdPid}/clear_refs`, '5');
    const before = peakMiB();
    const answer = await sendGzip(sound, bomb);
    expect(answer.status).toBe(413);
    expect(answer.body.toString()).toBe('The push is over 100 MB. Push fewer commits at once.\n');
    // What V8 has not collected yet; it does so every 64 MB.
    expect(peakMiB() - before).toBeLessThan(100);
    await expectNothingMade(bed, sound);
  });

  it('that inflates to nothing is 413 where it passes 100 MB itself', async () => {
    const header = gzipSync(Buffer.alloc(0)).subarray(0, 10);
    // Stored blocks of no bytes, and never the last one.
    const piece = Buffer.alloc(5 * MiB, Buffer.from([0, 0, 0, 0xff, 0xff]));
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(`/v1/gh/${sound.upstream.fullName}/git-receive-pack`, sound.person, {
      'Content-Type': RECEIVE_PACK,
      'Content-Encoding': 'gzip',
      'Transfer-Encoding': 'chunked',
    });
    connection.sendChunk(header);
    for (let sent = 0; sent <= 100 * MiB; sent += piece.length) connection.sendChunk(piece);
    connection.sendChunk(Buffer.alloc(0));
    const answer = await connection.answer();
    connection.vanish();
    expect(answer?.status).toBe(413);
  });
});

it('the service takes the same push when it is in order', exhaustive, async () => {
  await expectStillServing(bed, sound);
});
