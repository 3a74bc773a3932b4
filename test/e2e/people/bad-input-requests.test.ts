/**
 * Requests that are no push: garbage in place of commands, names that are none, wrong types, bodies
 * over the limit. Each is answered at once and with a sentence; the host never hears of them.
 */
import { deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { oidNumber } from '../../support/objects.ts';
import { buildPack } from '../../support/pack-builder.ts';
import { type RawAnswer, RawConnection } from '../support/raw-http.ts';
import {
  expectNothingMade,
  expectStillServing,
  makeSoundPush,
  REF,
  type SoundPush,
} from '../support/sound-push.ts';
import { useTestBed } from '../support/test-bed.ts';
import { statusTable } from '../support/push-output.ts';
import { neutralEnvironment, run } from '../support/run.ts';
import { pushBody, RECEIVE_PACK, send, sendPush, type WireAnswer } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt, readReport, readStatus, ZERO_ID } from '../../support/pkt-line.ts';

const bed = useTestBed();
let sound: SoundPush;

beforeAll(async () => {
  sound = await makeSoundPush(bed);
});

const soundBody = () =>
  pushBody({ commands: [{ newId: sound.tip, ref: REF }], pack: buildPack(sound.entries).bytes });

/** Any request, its path byte for byte. */
async function raw(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body: Uint8Array = Buffer.alloc(0),
): Promise<RawAnswer> {
  const connection = await RawConnection.open(bed.service.url);
  const length: Record<string, string> =
    method === 'GET' ? {} : { 'Content-Length': String(body.byteLength) };
  connection.sendHead(path, sound.person, { ...length, ...headers }, method);
  connection.send(body);
  const answer = await connection.answer();
  connection.vanish();
  if (answer === null) throw new Error('the connection was closed without an answer');
  return answer;
}

/**
 * Expects what Git shows of a request that it could not have sent: all refs are refused, and the
 * reason is there twice.
 */
function expectTold(
  answer: WireAnswer,
  expected: {
    readonly unpack?: string;
    readonly reason?: string;
    readonly refs?: readonly string[];
    readonly line?: RegExp;
  } = {},
): void {
  const {
    reason = 'the request is malformed',
    unpack = 'malformed request',
    refs = [],
    line = /\.$/,
  } = expected;
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/x-git-receive-pack-result');
  const { report, errors, progress } = readReport(answer.body);
  expect(report).toEqual([`unpack ${unpack}`, ...refs.map((ref) => `ng ${ref} push rejected: ${reason}`)]);
  expect(errors).toEqual([`push rejected: ${reason}`]);
  expect(progress.filter(Boolean).join('\n')).toMatch(line);
}

describe('in place of commands', () => {
  it.each<[what: string, body: () => Uint8Array, refs?: readonly string[]]>([
    ['text', () => Buffer.from('hello, is this a Git server?')],
    ['a pack without commands', () => buildPack(sound.entries).bytes],
    [
      'commands that do not end',
      () => pkt(`${oidNumber(1)} ${sound.tip} ${REF}\0 report-status side-band-64k`),
      [REF],
    ],
  ])('%s: refused in-band, as Git shows nothing else', async (_, body, refs) => {
    expectTold(await sendPush(sound.upstream.url, sound.person, body()), { ...(refs && { refs }) });
    await expectNothingMade(bed, sound);
  });

  it('a sound command of a client without side-band is answered without one', async () => {
    const body = pushBody({
      commands: [{ newId: sound.tip, ref: REF }],
      capabilities: 'report-status push-options',
      options: ['x'.repeat(5000)],
      pack: buildPack(sound.entries).bytes,
    });
    const { status, body: report } = await sendPush(sound.upstream.url, sound.person, body);
    expect(status).toBe(200);
    expect(readStatus(report)).toEqual(['unpack ok', `ng ${REF} push rejected: the push is too large`]);
  });
});

/** A push by a real Git: it ends with 1, and its text says why. */
async function refusedPush(args: readonly string[]): Promise<{ stderr: string; rows: string[] }> {
  const pushed = await sound.clone.push(...args);
  expect(pushed.code, pushed.stderr).toBe(1);
  expect(pushed.stderr).not.toContain('Everything up-to-date');
  expect(pushed.stderr).not.toContain('RPC failed');
  await expectNothingMade(bed, sound);
  return { stderr: pushed.stderr, rows: statusTable(pushed) };
}

/** An argument of bytes that are no UTF-8 cannot be given by Node itself. */
function pushThroughShell(script: string) {
  return run('sh', ['-c', script], {
    cwd: sound.clone.path,
    env: neutralEnvironment({ HOME: sound.person.home, GIT_USER_AGENT: sound.person.userAgent }),
  });
}

describe('what a real Git sends and is refused', () => {
  it('a push option that is not UTF-8', async () => {
    const { code, stderr } = await pushThroughShell(
      `git push -o "title=$(printf 'gr\\366\\337e')" origin HEAD:${REF}`,
    );
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('remote: A push option is not UTF-8. Write it in UTF-8, or leave it out.');
    expect(stderr).toMatch(/! \[remote rejected\] HEAD -> fix \(push rejected: the request is malformed\)/);
    await expectNothingMade(bed, sound);
  });

  it('a branch whose name is not UTF-8', async () => {
    const { code, stderr } = await pushThroughShell(
      `git push origin "HEAD:refs/heads/$(printf 'gr\\366\\337e')"`,
    );
    expect(code, stderr).toBe(1);
    // Git found its own ref in the report.
    expect(stderr).toMatch(/! \[remote rejected\] HEAD -> gr.+e \(invalid ref name: it is not UTF-8\)/);
    expect(stderr).not.toContain('unknown ref');
    await expectNothingMade(bed, sound);
  });

  it('a branch whose name is longer than ours may be', async () => {
    const { rows } = await refusedPush(['origin', `HEAD:refs/heads/${'x'.repeat(1_500)}`]);
    expect(rows).toEqual([expect.stringMatching(/^ ! \[remote rejected\] .*\(invalid ref name\)$/)]);
  });

  it('options that are too long, or too many', async () => {
    const long = await refusedPush(['-o', `title=${'x'.repeat(5_000)}`, 'origin', `HEAD:${REF}`]);
    expect(long.stderr).toContain('remote: A push option is longer than 4096 characters. Shorten it.');
    const many = await refusedPush([
      ...Array.from({ length: 65 }, (_, index) => ['-o', `x=${index}`]).flat(),
      'origin',
      `HEAD:${REF}`,
    ]);
    expect(many.stderr).toContain('remote: A push takes at most 64 push options. Leave some out.');
    for (const { rows } of [long, many])
      expect(rows).toEqual([' ! [remote rejected] HEAD -> fix (push rejected: the push is too large)']);
  });

  it('more than a thousand refs: each of them is named', exhaustive, async () => {
    const refs = Array.from({ length: 1_500 }, (_, index) => `HEAD:refs/heads/b${index}`);
    const { rows, stderr } = await refusedPush(['origin', ...refs]);
    expect(stderr).toContain('remote: A push holds at most 1000 refs. Push one branch.');
    expect(rows).toHaveLength(1_500);
    for (const row of rows)
      expect(row).toMatch(/^ ! \[remote rejected\] .*\(push rejected: the push is too large\)$/);
  });
});

it(
  'a ref that Git would not allow does not keep the branch beside it from being taken',
  exhaustive,
  async () => {
    const other = await makeSoundPush(bed);
    const body = pushBody({
      commands: [
        { newId: other.tip, ref: 'refs/heads/a..b' },
        { newId: other.tip, ref: REF },
      ],
      pack: buildPack(other.entries).bytes,
    });
    const { report } = readReport((await sendPush(other.upstream.url, other.person, body)).body);
    expect(report).toEqual(['unpack ok', `ok ${REF}`, 'ng refs/heads/a..b invalid ref name']);
  },
);

const LONG = 'x'.repeat(101);
const BAD_NAMES = [
  '/v1/gh/octo%2fhello/x',
  '/v1/gh/octo/%2e%2e%2fhello',
  '/v1/gh/octo/a..b',
  `/v1/gh/octo/${LONG}`,
  '/v1/gh/octo/h%C3%A9llo',
  '/v1/gh/octo/hello%00',
  '/v1/gh/octo/hello%0d%0aX-Injected:%201',
  '/v1/gh/octo/.git',
  '/v1/gh/octo/%E0%A4%A',
];
/** These are another path once it is normalised, and the service has none such. */
const NO_PATHS = ['/v1/gh/octo/..', '/v1/gh/octo', '/v1/gh//hello'];

/** Besides what the sound push of this file asks for. */
const about = ({ path }: { path: string }) =>
  !path.startsWith(`/${sound.upstream.fullName}`) && !/^\/(?:api|ntfy)/.test(path);

describe('a name that no repository has', () => {
  it.each([
    ...BAD_NAMES.map((path) => [path, [400]] as const),
    ...NO_PATHS.map((path) => [path, [400, 404, 405]] as const),
  ])('%s is rejected wherever it is used, and never asked for', async (path, statuses) => {
    const before = bed.host.requests.length;
    const answers = [
      await raw('GET', `${path}/info/refs?service=git-receive-pack`),
      await raw('GET', `${path}/info/refs?service=git-upload-pack`),
      await raw('POST', `${path}/git-receive-pack`, { 'Content-Type': RECEIVE_PACK }, soundBody()),
      await raw(
        'POST',
        `${path}/git-upload-pack`,
        { 'Content-Type': 'application/x-git-upload-pack-request' },
        pkt(null),
      ),
    ];
    for (const { status, body } of answers) {
      expect(statuses).toContain(status);
      expect(body.length).toBeGreaterThan(0);
      if (status === 400) expect(body.toString()).toMatch(/1 to 100 letters, digits, .* without "\.\."/);
    }
    expect(bed.host.requests.slice(before).filter(about)).toEqual([]);
  });
});

describe('a path', () => {
  it.each([
    ['POST', '/info/lfs/objects/batch'],
    ['POST', '.git/info/lfs/locks/verify'],
    ['GET', '/info/lfs/locks?path=a.bin'],
    ['PUT', '/info/lfs/objects/0123abcd'],
  ])('of Git LFS (%s %s) is answered to git-lfs in its own JSON', async (method, path) => {
    const body = Buffer.from('{"operation": "download"}');
    const headers = {
      Accept: 'application/vnd.git-lfs+json',
      'Content-Type': 'application/vnd.git-lfs+json',
    };
    const answer = await raw(method, `/v1/gh/${sound.upstream.fullName}${path}`, headers, body);
    expect(answer.status).toBe(501);
    expect(answer.headers['content-type']).toBe('application/vnd.git-lfs+json');
    const { message } = JSON.parse(answer.body.toString()) as { message: string };
    expect(message).toMatch(/^Git LFS is not available .*GIT_LFS_SKIP_SMUDGE=1.*\.$/);
  });
});

describe('a push of another type', () => {
  it.each<[what: string, headers: Record<string, string>, body: (plain: Uint8Array) => Uint8Array]>([
    ['as text', { 'Content-Type': 'text/plain' }, (plain) => plain],
    [
      'in an encoding of its own',
      { 'Content-Type': RECEIVE_PACK, 'Content-Encoding': 'br' },
      (plain) => plain,
    ],
    [
      'compressed twice',
      { 'Content-Type': RECEIVE_PACK, 'Content-Encoding': 'gzip, gzip' },
      (plain) => gzipSync(gzipSync(plain)),
    ],
    [
      'as a zlib stream',
      { 'Content-Type': RECEIVE_PACK, 'Content-Encoding': 'deflate' },
      (plain) => deflateSync(plain),
    ],
    ['not compressed', { 'Content-Type': RECEIVE_PACK, 'Content-Encoding': 'identity' }, (plain) => plain],
    [
      'not compressed, and once more',
      { 'Content-Type': RECEIVE_PACK, 'Content-Encoding': 'identity, identity' },
      (plain) => plain,
    ],
  ])('%s is refused with 415', async (_, headers, encode) => {
    const { url } = sound.upstream;
    const options = { method: 'POST', person: sound.person, headers, body: encode(soundBody()) };
    const { status, body } = await send(`${url}/git-receive-pack`, options);
    expect(status).toBe(415);
    expect(body.toString()).toMatch(/\.\n$/);
    await expectNothingMade(bed, sound);
  });
});

const receivePackPath = () => `/v1/gh/${sound.upstream.fullName}/git-receive-pack`;

describe('a body over 100 MB', () => {
  const overLimit = 100 * 1024 * 1024 + 1;

  /** Sends a body that is not announced until it is over the limit, or the service has answered. */
  async function exceed(beginning: Uint8Array, piece: Uint8Array): Promise<RawAnswer | null> {
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(receivePackPath(), sound.person, {
      'Content-Type': RECEIVE_PACK,
      'Transfer-Encoding': 'chunked',
    });
    connection.sendChunk(beginning);
    for (let sent = 0; sent < overLimit; sent += piece.length) connection.sendChunk(piece);
    connection.sendChunk(Buffer.alloc(0));
    const answer = await connection.answer();
    connection.vanish();
    return answer;
  }

  const MiB = 1024 * 1024;
  const deletion = pkt(`${oidNumber(1)} ${ZERO_ID} ${REF}\0 report-status side-band-64k push-options`);

  it.each<[what: string, beginning: () => Uint8Array, piece: () => Uint8Array]>([
    ['a pack that is none', () => soundBody().subarray(0, 200), () => Buffer.alloc(8 * MiB)],
    ['a probe', () => pkt(null), () => Buffer.alloc(8 * MiB)],
    [
      'a withdrawal',
      () => Buffer.concat([deletion, pkt(null), pkt('pr-hash=0123456789ab'), pkt(null)]),
      () => Buffer.alloc(8 * MiB),
    ],
    [
      'a command section',
      () => pkt(`shallow ${oidNumber(1)}`),
      () => Buffer.alloc(8 * MiB, pkt(`shallow ${oidNumber(1)}`)),
    ],
  ])(
    'that is not announced is refused where it passes the limit: %s, and more',
    exhaustive,
    async (_, beginning, piece) => {
      const answer = await exceed(beginning(), piece());
      expect(answer?.status).toBe(413);
      expect(answer?.body.toString()).toBe('The push is over 100 MB. Push fewer commits at once.\n');
      await expectNothingMade(bed, sound);
    },
  );
});

describe('the service', () => {
  it('has made no fork for any of these, and takes a push that is in order', async () => {
    expect(bed.host.requestsFor(sound.upstream, 'POST', /forks|receive-pack|pulls/)).toEqual([]);
    await expectStillServing(bed, sound);
  });
});
