/**
 * Pushes whose body is compressed with gzip, as JGit sends them when that makes them smaller: sound
 * ones are taken, damaged ones refused where Git shows it, and bombs stopped early.
 */
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPack, type Entry } from '../../support/pack-builder.ts';
import { RawConnection } from '../support/raw-http.ts';
import { growthDuring } from '../support/resident-memory.ts';
import { contribute } from '../support/contribution.ts';
import {
  expectInBandRefusal,
  expectNothingMade,
  expectStillServing,
  makeSoundPush,
  REF,
  type SoundPush,
} from '../support/sound-push.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, RECEIVE_PACK, send, type WireAnswer } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const MiB = 1024 * 1024;
const bed = useOwnTestBed();
let sound: SoundPush;

beforeAll(async () => {
  sound = await makeSoundPush(bed);
});

const bodyOf = ({ tip, entries }: SoundPush, options: readonly string[] = []) =>
  pushBody({ commands: [{ newId: tip, ref: REF }], options, pack: buildPack(entries).bytes });

function sendGzip(
  { upstream, person }: Pick<SoundPush, 'upstream' | 'person'>,
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

describe('a compressed push', () => {
  it.each<[what: string, encode: (plain: Buffer) => Uint8Array | readonly Uint8Array[], encoding: string]>([
    ['in one piece', (plain) => gzipSync(plain), 'gzip'],
    [
      'in two members, with zeros behind them',
      (plain) =>
        Buffer.concat([gzipSync(plain.subarray(0, 100)), gzipSync(plain.subarray(100)), Buffer.alloc(50)]),
      'gzip',
    ],
  ])('%s is taken', async (_, encode, encoding) => {
    const push = await makeSoundPush(bed);
    const answer = await sendGzip(push, encode(bodyOf(push)), { 'Content-Encoding': encoding });
    expect(readReport(answer.body).report).toEqual(['unpack ok', `ok ${REF}`]);
    expect(await bed.host.pulls(push.upstream)).toHaveLength(1);
  });

  it(
    'of thousands of tiny files that Git has packed is taken: something in it names each of them',
    exhaustive,
    async () => {
      const push = await contribute(bed);
      const names = Array.from({ length: 1_000 }, (_, at) => [`of/${at % 50}/${at}`, `${at}\n`] as const);
      const tip = await push.clone.commit({ files: Object.fromEntries(names) });
      const pack = await packOf(push.clone, ['HEAD', '^origin/main'], '--thin');
      const body = pushBody({ commands: [{ newId: tip, ref: REF }], options: ['preview'], pack });
      const { progress } = readReport((await sendGzip(push, gzipSync(body))).body);
      expect(progress.join('\n')).toContain('This push would open a pull request');
    },
  );

  it.each<[what: string, encode: (plain: Buffer) => Uint8Array]>([
    ['cut in its pack', (plain) => gzipSync(plain, { level: 0 }).subarray(0, plain.length - 100)],
    ['with garbage behind it', (plain) => Buffer.concat([gzipSync(plain), Buffer.from('garbage')])],
  ])('%s is refused in-band, and nothing of it stays', async (_, encode) => {
    const answer = await sendGzip(sound, encode(bodyOf(sound)));
    expect(answer.status).toBe(200);
    const { report, errors, progress } = readReport(answer.body);
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

const blob = (content: Uint8Array, level = 6): Entry => ({ type: 'blob', content, zlib: { level } });
const bodyWith = (push: SoundPush, more: readonly Entry[], options: readonly string[]) =>
  bodyOf({ ...push, entries: [...push.entries, ...more] }, options);

/** Thirty megabytes that are stored as they are. */
const zeros = () => Array.from({ length: 3 }, () => blob(Buffer.alloc(10 * MiB), 0));
describe('a gzip bomb', () => {
  it.each<[what: string, options: readonly string[], encode: (body: Buffer) => readonly Uint8Array[]]>([
    ['in one piece', [], (body) => [gzipSync(body)]],
    ['that is delayed', ['delay=1h'], (body) => [gzipSync(body)]],
  ])('is refused in-band, and costs little memory: %s', async (_, options, encode) => {
    const bomb = encode(bodyWith(sound, zeros(), options));
    expect(Buffer.concat(bomb).length).toBeLessThan(MiB / 4);
    // What the first compressed push warms up does not count.
    await sendGzip(sound, gzipSync(bodyOf(sound).subarray(0, 200)));
    const answers: WireAnswer[] = [];
    const work = async () => answers.push(await sendGzip(sound, bomb));
    expect(await growthDuring(bed.service.workerdPid, work)).toBeLessThan(48);
    const { progress } = await expectInBandRefusal(bed, sound, answers[0]!, {
      unpack: 'incomplete pack',
      reason: 'the push is compressed too much',
      line: /may inflate to 4 times what is sent/,
    });
    expect(progress.join('\n')).toContain('git config http.postBuffer 65536');
  });

  it('that inflates to nothing is 413 where it passes 100 MB itself', exhaustive, async () => {
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

it('the service takes the same push when it is in order', async () => {
  await expectStillServing(bed, sound);
});
