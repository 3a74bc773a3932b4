/**
 * Bodies that stop half-way or come slowly, clients that vanish, framing that is wrong: answered when READ_TIMEOUT is
 * over, nothing stays on the host, and meanwhile and afterwards others are served.
 */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { piecesOf } from '../../support/byte-chunks.ts';
import { buildPack } from '../../support/pack-builder.ts';
import { type RawAnswer, RawConnection } from '../support/raw-http.ts';
import {
  expectInBandRefusal,
  expectNothingMade,
  expectStillServing,
  makeSoundPush,
  REF,
  type SoundPush,
} from '../support/sound-push.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, RECEIVE_PACK, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt, readReport } from '../../support/pkt-line.ts';

const READ_TIMEOUT_MS = 2_000;
/** The timeout, and a busy machine. */
const PROMPT_MS = READ_TIMEOUT_MS + 8_000;

const bed = useOwnTestBed({ env: { READ_TIMEOUT: `${READ_TIMEOUT_MS}ms`, WRITE_TIMEOUT: '1s' } });
let sound: SoundPush;
let large: LargePush;

/** Starts to leave for the fork before it has arrived. */
interface LargePush extends SoundPush {
  readonly body: Buffer;
}

async function makeLargePush(): Promise<LargePush> {
  const push = await makeSoundPush(bed);
  const files = Object.fromEntries([1, 2, 3].map((n) => [`random-${n}.bin`, randomBytes(2 * 1024 * 1024)]));
  const newId = await push.clone.commit({ files });
  const pack = await packOf(push.clone, ['HEAD', '^origin/main'], '--thin', '--delta-base-offset');
  return { ...push, body: pushBody({ commands: [{ newId, ref: REF }], pack }) };
}

beforeAll(async () => {
  sound = await makeSoundPush(bed);
  large = await makeLargePush();
});

const receivePackPath = ({ upstream }: SoundPush) => `/v1/gh/${upstream.fullName}/git-receive-pack`;

const bodyOf = ({ tip, entries }: SoundPush) =>
  pushBody({ commands: [{ newId: tip, ref: REF }], pack: buildPack(entries).bytes });

const INCOMPLETE = { unpack: 'incomplete pack', reason: 'the push did not arrive completely' };

type Framing = 'announced' | 'chunked';

function framed(framing: Framing, length: number): Record<string, string> {
  return framing === 'announced' ? { 'Content-Length': String(length) } : { 'Transfer-Encoding': 'chunked' };
}

interface Begun {
  readonly connection: RawConnection;
  readonly startedAt: number;
}

/** Announces a push and sends the first bytes of its body, and no more. */
async function beginPush(
  push: SoundPush,
  body: Buffer,
  bytes: number,
  framing: Framing = 'announced',
): Promise<Begun> {
  const connection = await RawConnection.open(bed.service.url);
  const startedAt = Date.now();
  connection.sendHead(receivePackPath(push), push.person, {
    'Content-Type': RECEIVE_PACK,
    ...framed(framing, body.length),
  });
  const part = body.subarray(0, bytes);
  if (framing === 'announced') connection.send(part);
  else if (part.length > 0) connection.sendChunk(part);
  return { connection, startedAt };
}

interface Answered {
  readonly answer: RawAnswer;
  readonly afterMs: number;
}

async function answerTo({ connection, startedAt }: Begun): Promise<Answered> {
  const answer = await connection.answer();
  const afterMs = Date.now() - startedAt;
  connection.vanish();
  if (answer === null) throw new Error('the connection was closed without an answer');
  return { answer, afterMs };
}

const FRAMINGS = ['announced', 'chunked'] as const;
const FRACTIONS = [0.1, 0.5, 0.99];
const PARTS_OF_COMMANDS = [0, 3, 50];

const FORMS = [
  ['issues/1/comments/anonymous', 'application/json'],
  ['issues/anonymous', 'application/json'],
  ['reply', 'application/x-www-form-urlencoded'],
] as const;

interface Stalled {
  readonly push: SoundPush;
  readonly largePush: LargePush;
  readonly commands: readonly Answered[];
  readonly pack: Answered;
  readonly leavingPack: Answered;
  readonly fetch: Answered;
  readonly tooLarge: Answered;
}

async function stall(framing: Framing, push: SoundPush, largePush: LargePush): Promise<Stalled> {
  const body = bodyOf(push);
  const [pack, leavingPack, fetch, tooLarge, ...commands] = await Promise.all([
    beginPush(push, body, body.length - 100, framing).then(answerTo),
    beginPush(largePush, largePush.body, 4 * 1024 * 1024, framing).then(answerTo),
    beginFetch(framing).then(answerTo),
    beginTooLarge().then(answerTo),
    ...PARTS_OF_COMMANDS.map((bytes) => beginPush(push, body, bytes, framing).then(answerTo)),
  ]);
  return { push, largePush, commands, pack, leavingPack, fetch, tooLarge };
}

async function beginFetch(framing: Framing): Promise<Begun> {
  const connection = await RawConnection.open(bed.service.url);
  const startedAt = Date.now();
  connection.sendHead(`/v1/gh/${sound.upstream.fullName}/git-upload-pack`, sound.person, {
    'Content-Type': 'application/x-git-upload-pack-request',
    ...framed(framing, 1000),
  });
  const part = pkt(`want ${await sound.upstream.tip()} side-band-64k\n`);
  if (framing === 'announced') connection.send(part);
  else connection.sendChunk(part);
  return { connection, startedAt };
}

async function beginTooLarge(): Promise<Begun> {
  const connection = await RawConnection.open(bed.service.url);
  const startedAt = Date.now();
  connection.sendHead(receivePackPath(sound), sound.person, {
    'Content-Type': RECEIVE_PACK,
    ...framed('announced', 101 * 1024 * 1024),
  });
  connection.send(bodyOf(sound));
  return { connection, startedAt };
}

/** A push in many parts, with pauses that are longer together than one may be. */
async function pushSteadily(framing: Framing, push: SoundPush): Promise<Answered> {
  const body = bodyOf(push);
  const { connection, startedAt } = await beginPush(push, body, 300, framing);
  for (const piece of piecesOf(body.subarray(300), Math.ceil((body.length - 300) / 12))) {
    // Far from the timeout, however busy this process is.
    await new Promise((resolve) => setTimeout(resolve, 0.1 * READ_TIMEOUT_MS));
    if (framing === 'announced') connection.send(piece);
    else connection.sendChunk(piece);
  }
  if (framing === 'chunked') connection.sendChunk(Buffer.alloc(0));
  return answerTo({ connection, startedAt });
}

/** Sends a byte of a comment or a form again and again, until it is answered. */
async function drip(framing: Framing, [end, type]: (typeof FORMS)[number]): Promise<Answered> {
  const startedAt = Date.now();
  const connection = await RawConnection.open(bed.service.url);
  const headers = { 'Content-Type': type, ...framed(framing, 400) };
  connection.sendHead(`${new URL(sound.upstream.url).pathname}/${end}`, sound.person, headers);
  const sendByte = (): void => {
    if (framing === 'announced') connection.send('a');
    else connection.sendChunk(Buffer.from('a'));
  };
  // None when the time is over: the service closes then, and Node forgets what a connection has received that it cannot
  // write to.
  const dripping = setInterval(sendByte, 0.7 * READ_TIMEOUT_MS);
  return answerTo({ connection, startedAt }).finally(() => clearInterval(dripping));
}

interface Slow {
  readonly stalled: Stalled;
  readonly steady: Answered;
  /** In the order of FORMS. */
  readonly dripped: readonly Answered[];
}

async function allSlow(framing: Framing, { push, largePush, steadily }: Prepared): Promise<Slow> {
  const [stalled, steady, ...dripped] = await Promise.all([
    stall(framing, push, largePush),
    pushSteadily(framing, steadily),
    ...FORMS.map((form) => drip(framing, form)),
  ]);
  return { stalled, steady, dripped };
}

/** Made before anybody is slow: whoever writes megabytes meanwhile would be late with the next bytes of another. */
async function prepare() {
  return {
    push: await makeSoundPush(bed),
    largePush: await makeLargePush(),
    steadily: await makeSoundPush(bed),
  };
}
type Prepared = Awaited<ReturnType<typeof prepare>>;

/** All of them wait at the same time. */
let slow: Readonly<Record<Framing, Slow>>;

beforeAll(async () => {
  const prepared = [await prepare(), await prepare()] as const;
  const [announced, chunked] = await Promise.all([
    allSlow('announced', prepared[0]),
    allSlow('chunked', prepared[1]),
  ]);
  slow = { announced, chunked };
});

describe.each(FRAMINGS)('a body that stops half-way (%s)', exhaustive, (framing) => {
  it('in its commands is refused in-band, although no ref can be named', async () => {
    const { commands, push } = slow[framing].stalled;
    for (const { answer } of commands) {
      expect(answer.status).toBe(200);
      const { report, errors, progress } = readReport(answer.body);
      expect(report).toEqual(['unpack incomplete pack']);
      expect(errors).toEqual(['push rejected: the push did not arrive completely']);
      expect(progress.join('\n')).toMatch(/arrived too slowly/);
    }
    await expectNothingMade(bed, push);
  });

  it('in its pack is refused in-band', async () => {
    const { pack, push } = slow[framing].stalled;
    await expectInBandRefusal(bed, push, pack.answer, { ...INCOMPLETE, line: /arrived too slowly/ });
  });

  it('in a pack that is already on its way to the fork is refused, and the fork keeps nothing of it', async () => {
    const { leavingPack, largePush } = slow[framing].stalled;
    await expectInBandRefusal(bed, largePush, leavingPack.answer, INCOMPLETE);
  });

  it('in a fetch: 400', () => {
    const { status, body } = slow[framing].stalled.fetch.answer;
    expect(status).toBe(400);
    expect(JSON.parse(body.toString())).toMatchObject({ error: 'failed to read body' });
  });

  it('and is over the limit by its own word: 413', () => {
    const { answer, afterMs } = slow[framing].stalled.tooLarge;
    expect(answer.status).toBe(413);
    expect(afterMs).toBeLessThan(PROMPT_MS);
  });

  it('is answered when the time for it is over', () => {
    const { pack, leavingPack, fetch, commands } = slow[framing].stalled;
    for (const { afterMs } of [pack, leavingPack, fetch, ...commands]) {
      expect(afterMs).toBeGreaterThanOrEqual(READ_TIMEOUT_MS - 100);
      expect(afterMs).toBeLessThan(PROMPT_MS);
    }
  });
});

describe.each(FRAMINGS)('a body that comes slowly (%s)', exhaustive, (framing) => {
  it('but steadily is taken, although all of it takes longer than one wait may', () => {
    const { answer, afterMs } = slow[framing].steady;
    expect(afterMs).toBeGreaterThan(READ_TIMEOUT_MS);
    expect(readReport(answer.body).report).toEqual(['unpack ok', `ok ${REF}`]);
  });

  it.each(FORMS.map(([end], index) => [end, index] as const))(
    'as a comment or a form is ended when the time for all of it is over, however steadily it comes: %s',
    (_, index) => {
      const { answer, afterMs } = slow[framing].dripped[index] as Answered;
      expect(answer.status).toBe(408);
      expect(afterMs).toBeGreaterThanOrEqual(READ_TIMEOUT_MS - 100);
    },
  );
});

describe.each(FRAMINGS)('a client that vanishes (%s)', exhaustive, (framing) => {
  it.each(FRACTIONS)('after %f of a small push leaves nothing', async (fraction) => {
    const body = bodyOf(sound);
    const { connection } = await beginPush(sound, body, Math.floor(fraction * body.length), framing);
    await new Promise((resolve) => setTimeout(resolve, 50));
    connection.vanish();
    await expectNothingMade(bed, sound);
  });

  it.each(FRACTIONS)('after %f of a large push leaves nothing', async (fraction) => {
    const { connection } = await beginPush(
      large,
      large.body,
      Math.floor(fraction * large.body.length),
      framing,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    connection.vanish();
    await expectNothingMade(bed, large);
  });

  it('but says first that it is done sending, gets no pull request either', async () => {
    const body = bodyOf(sound);
    const { connection } = await beginPush(sound, body, body.length / 2, framing);
    connection.end();
    const answer = await connection.answer();
    expect([200, 400, undefined]).toContain(answer?.status);
    await expectNothingMade(bed, sound);
  });
});

describe('a client that does not read its answer', () => {
  it('is given up after WRITE_TIMEOUT, its work stays done, and it may push again', async () => {
    const push = await makeSoundPush(bed);
    // More than the buffers on the way take, but for the largest: a line for each of these.
    const refs = Array.from({ length: 500 }, (_, index) => `refs/heads/${'x'.repeat(16_000)}${index}..`);
    const naming = (...names: string[]) =>
      pushBody({
        commands: names.map((ref) => ({ newId: push.tip, ref })),
        pack: buildPack(push.entries).bytes,
      });
    const body = naming(REF, ...refs);
    const { connection } = await beginPush(push, body, 0);
    connection.stopReading();
    connection.send(body);
    await expect.poll(() => bed.host.pulls(push.upstream)).toHaveLength(1);
    const again = () => sendPush(push.upstream.url, push.person, naming(REF));
    // In progress until the first one is given up, which may have happened already.
    await expect
      .poll(async () => readReport((await again()).body).report[1], { interval: 500 })
      .toBe(`ok ${REF}`);
    connection.readAgain();
    const answer = await connection.answer();
    // Not null: the system had buffers for all of it.
    if (answer !== null) expect(readReport(answer.body).report[1]).toBe(`ok ${REF}`);
    expect(await bed.host.pulls(push.upstream)).toHaveLength(1);
  });
});

describe('framing that is wrong', exhaustive, () => {
  it.each([
    ['a chunk whose size is no number', 'zz\r\nhello\r\n'],
    ['a chunk that is longer than it says', '5\r\nhello, world\r\n0\r\n\r\n'],
    ['a chunk of 2^64 bytes', '10000000000000000\r\nhello'],
  ])('as %s is refused, or the connection closed', async (_, bytes) => {
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(receivePackPath(sound), sound.person, {
      'Content-Type': RECEIVE_PACK,
      'Transfer-Encoding': 'chunked',
    });
    connection.send(bytes);
    const answer = await connection.answer();
    connection.vanish();
    if (answer !== null && answer.status === 200)
      expect(readReport(answer.body).errors.join('\n')).toMatch(/^push rejected: /);
    else expect(answer?.status ?? 400).toBe(400);
    await expectNothingMade(bed, sound);
  });

  it.each(['-1', 'many', '10, 20', '0x10'])('as a length of %s is refused', async (length) => {
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(receivePackPath(sound), sound.person, {
      'Content-Type': RECEIVE_PACK,
      'Content-Length': length,
    });
    connection.send(bodyOf(sound));
    const answer = await connection.answer();
    connection.vanish();
    expect(answer?.status ?? 400).toBeGreaterThanOrEqual(400);
    expect(answer?.status ?? 400).toBeLessThan(500);
    await expectNothingMade(bed, sound);
  });
});

describe('the service', exhaustive, () => {
  it('serves others while many bodies have stopped half-way', async () => {
    const body = bodyOf(sound);
    const begun = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        beginPush(sound, body, Math.floor((index * body.length) / 20), index % 2 ? 'chunked' : 'announced'),
      ),
    );
    await expectStillServing(bed, await makeSoundPush(bed));
    for (const { connection } of begun) connection.vanish();
  });

  it('takes the pushes that were broken off, now that they come whole', async () => {
    await expectStillServing(bed, sound);
    await expectStillServing(bed, large);
  });

  it('has failed in none of these by a fault of its own', () => {
    expect(bed.logLines.filter((line) => /internal|request failed/.test(line))).toEqual([]);
  });
});
