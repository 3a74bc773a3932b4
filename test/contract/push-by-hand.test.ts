/**
 * Discovery and pushes byte by byte, as a client written from the contract sends them (4.5, 4.6, 7,
 * 8).
 */
import { connect } from 'node:net';
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { useCodeHost } from './support/code-host.ts';
import {
  bodyOf,
  CAPABILITIES,
  change,
  type Change,
  command,
  post,
  push,
  type Pushed,
  REQUEST_TYPE,
  RESULT_TYPE,
} from './support/hand-push.ts';
import { type Answer, CLIENT_HEADER, send } from './support/http.ts';
import { commit, object, pack, tree } from './support/pack.ts';
import { FLUSH, pkt, readPkts, readReport, ZERO_ID } from './support/pkt.ts';
import { BOT } from './support/records.ts';
import { useService } from './support/service.ts';

const MB = 1024 * 1024;

const host = useCodeHost();
const service = useService(() => (port) => ({
  ...host.variables,
  SERVICE_URL: `http://127.0.0.1:${port}`,
  CLIENT_IP_HEADER: CLIENT_HEADER,
}));

let clients = 0;
const newClient = (): string => `203.0.113.${++clients}`;
const remote = (repository = 'octo/hello'): string => `${service.url}/v1/gh/${repository}`;
let tip = '';
const newChange = (message?: string): Change => change(tip, message);

beforeAll(async () => {
  await host.createRepository('octo', 'hello');
  tip = await host.tip('octo', 'hello', 'main');
});

/** Subjects of the commits that the branch of a pull request has above upstream's. */
async function published(prHash: string): Promise<string[]> {
  const log = await host.git(BOT, 'hello', 'log', '--format=%s', `refs/heads/anon-${prHash}`, `^${tip}`);
  return log.split('\n').filter(Boolean);
}

/** It has opened a pull request, and says so completely. */
async function expectAccepted(pushed: Pushed, ref = 'refs/heads/change'): Promise<void> {
  expect(pushed.report, pushed.progress.join('\n')).toEqual(['unpack ok', `ok ${ref}`]);
  expect(pushed.errors).toEqual([]);
  expect(pushed.prHash).not.toBe('');
  expect(await published(pushed.prHash)).toHaveLength(1);
}

describe('discovery of a push', () => {
  let answer: Answer;
  beforeAll(async () => {
    answer = await send(`${remote()}/info/refs?service=git-receive-pack`);
  });

  it('is an advertisement with the service, a flush and the refs', () => {
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/x-git-receive-pack-advertisement');
    const [first, flush, ...refs] = readPkts(answer.body);
    expect(first?.toString()).toBe('# service=git-receive-pack\n');
    expect(flush).toBeNull();
    expect(refs.pop()).toBeNull();
    const lines = refs.map((line) => (line ?? '').toString().replace(/\0.*/s, '').trimEnd());
    expect(lines).toContain(`${tip} refs/heads/main`);
    for (const line of lines) expect(line).toMatch(/^[0-9a-f]{40} \S+$/);
  });

  it('offers the six capabilities of the contract, and no other', () => {
    const [, list = ''] = (readPkts(answer.body)[2] ?? '').toString().trimEnd().split('\0');
    expect(list.trim().split(' ').toSorted()).toEqual(
      ['report-status', 'delete-refs', 'side-band-64k', 'quiet', 'ofs-delta', 'push-options'].toSorted(),
    );
  });

  it.each(['', '?service=', '?service=git-upload-archive'])('needs a known service: %j', async (query) => {
    expect((await send(`${remote()}/info/refs${query}`)).status).toBeGreaterThanOrEqual(400);
  });
});

describe('a push by hand', () => {
  it('is answered with 200, by type, in side-bands', async () => {
    const { id, pack: bytes } = newChange();
    const pushed = await push(remote(), bodyOf({ id, pack: bytes }), newClient());
    expect(pushed.answer.headers['content-type']).toBe(RESULT_TYPE);
    await expectAccepted(pushed);
    expect(pushed.progress.join('\n')).toContain(`${host.notifyUrl}/anon-pr-${pushed.prHash}`);
    expect(pushed.progress.join('\n')).toContain(`-o pr-hash=${pushed.prHash}`);
  });

  it('to main is answered with unpack ok and ok refs/heads/main', async () => {
    const { id, pack: bytes } = newChange();
    const body = Buffer.concat([
      pkt(`${command(id, 'refs/heads/main', tip)}\0 ${CAPABILITIES}`),
      FLUSH,
      FLUSH,
      bytes,
    ]);
    await expectAccepted(await push(remote(), body, newClient()), 'refs/heads/main');
  });

  it('may send the pack behind the first flush, although it has named push-options', async () => {
    const { id, pack: bytes } = newChange();
    const body = Buffer.concat([pkt(`${command(id)}\0 ${CAPABILITIES}`), FLUSH, bytes]);
    await expectAccepted(await push(remote(), body, newClient()));
  });

  it('may name no push-options at all', async () => {
    const { id, pack: bytes } = newChange();
    const body = Buffer.concat([pkt(`${command(id)}\0report-status side-band-64k`), FLUSH, bytes]);
    await expectAccepted(await push(remote(), body, newClient()));
  });

  it.each([
    ['push-options', '\n'],
    ['push-options', ''],
    ['', ''],
  ])('may put its option before the flush, as the contract writes it: %j %j', async (named, end) => {
    const client = newClient();
    const first = await push(remote(), bodyOf(newChange()), client);
    await expectAccepted(first);
    const { id, pack: bytes } = newChange('Another one\n');
    const body = Buffer.concat([
      pkt(`${command(id)}\0report-status side-band-64k ${named}`.trimEnd()),
      pkt(`pr-hash=${first.prHash}${end}`),
      FLUSH,
      bytes,
    ]);
    const second = await push(remote(), body, client);
    await expectAccepted(second);
    expect(second).toMatchObject({ prHash: first.prHash, prUrl: first.prUrl });
    expect(await published(first.prHash)).toEqual(['Another one']);
  });

  it('may ask first whether it may go on', async () => {
    const body = bodyOf(newChange());
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const head = [
      'POST /v1/gh/octo/hello/git-receive-pack HTTP/1.1',
      `Host: ${hostname}:${port}`,
      `${CLIENT_HEADER}: ${newClient()}`,
      `Content-Type: ${REQUEST_TYPE}`,
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      'Connection: close',
    ];
    const isEnded = new Promise((resolve) => {
      socket.once('close', resolve);
    });
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write(body);
    await isEnded;
    const text = Buffer.concat(chunks).toString('latin1');
    expect(text).toMatch(/^HTTP\/1\.1 (100 Continue\r\n\r\nHTTP\/1\.1 )?200 OK\r\n/);
    expect(text).toContain('unpack ok');
    expect(text).toContain('ok refs/heads/change');
  });

  it('must be of its content type', async () => {
    const answer = await post(remote(), bodyOf(newChange()), newClient(), { 'Content-Type': 'text/plain' });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });

  it('of four bytes is a probe, and opens nothing', async () => {
    const count = host.repositories.get('octo/hello')?.threads.length;
    const answer = await post(remote(), FLUSH, newClient());
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe(RESULT_TYPE);
    expect(answer.body).toHaveLength(0);
    expect(host.repositories.get('octo/hello')?.threads).toHaveLength(count as number);
  });

  it('loses the signature and every other header of its commits', async () => {
    const blob = object('blob', 'signed\n');
    const files = tree({ 'README.md': blob });
    const plain = commit({ tree: files, parents: [tip], message: 'Signed\n' });
    const signature =
      'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEzBAABCAAdFiEE\n -----END PGP SIGNATURE-----\n';
    const signed = object('commit', plain.content.toString().replace('\n\n', `\n${signature}x-by ada\n\n`));
    const pushed = await push(
      remote(),
      bodyOf({ id: signed.id, pack: pack([signed, files, blob]) }),
      newClient(),
    );
    await expectAccepted(pushed);
    const raw = await host.git(BOT, 'hello', 'cat-file', 'commit', `refs/heads/anon-${pushed.prHash}`);
    expect(raw).toMatch(
      new RegExp(
        `^tree ${files.id}\nparent ${tip}\n` +
          `author ${BOT} <[^>]+> \\d+ \\+0000\ncommitter ${BOT} <[^>]+> \\d+ \\+0000\n\nSigned\n$`,
      ),
    );
  });

  it('may store a commit as a delta of one that comes later', async () => {
    const blob = object('blob', 'deltas\n');
    const files = tree({ 'README.md': blob });
    const first = commit({ tree: files, parents: [tip], message: 'The first of two\n' });
    const second = commit({ tree: files, parents: [first.id], message: 'The second of two\n' });
    const bytes = pack([{ of: second, base: first }, files, first, blob]);
    const pushed = await push(remote(), bodyOf({ id: second.id, pack: bytes }), newClient());
    expect(pushed.report, pushed.progress.join('\n')).toEqual(['unpack ok', 'ok refs/heads/change']);
    expect(await published(pushed.prHash)).toEqual(['The second of two', 'The first of two']);
  });

  it('may be thin: a delta of what only upstream has', async () => {
    const known = await host.git('octo', 'hello', 'cat-file', 'blob', `${tip}:README.md`);
    const base = object('blob', known);
    const blob = object('blob', `${known}and more\n`);
    const files = tree({ 'README.md': blob });
    const made = commit({ tree: files, parents: [tip], message: 'Thin\n' });
    const bytes = pack([made, files, { of: blob, base }]);
    const pushed = await push(remote(), bodyOf({ id: made.id, pack: bytes }), newClient());
    await expectAccepted(pushed);
    expect(
      await host.git(BOT, 'hello', 'cat-file', 'blob', `refs/heads/anon-${pushed.prHash}:README.md`),
    ).toBe(`${known}and more\n`);
  });
});

/** It has failed in-band, for this ref, and nothing was opened. */
async function expectRefused(
  repository: string,
  body: Uint8Array,
  ref = 'refs/heads/change',
): Promise<Pushed> {
  const threads = host.repositories.get(repository)?.threads.length;
  const pushed = await push(remote(repository), body, newClient());
  expect(pushed.answer.headers['content-type']).toBe(RESULT_TYPE);
  expect(pushed.report.join('\n')).not.toContain(`ok ${ref}\n`);
  expect(pushed.report.filter((line) => line.startsWith(`ng ${ref} `))).toHaveLength(1);
  expect(pushed.errors.join('\n')).toMatch(/^push rejected: \S/);
  expect(host.repositories.get(repository)?.threads.length).toBe(threads);
  return pushed;
}

/** Changes a byte in the middle of a pack. */
function damaged({ id, pack: bytes }: Change): Pick<Change, 'id' | 'pack'> {
  const copy = Buffer.from(bytes);
  copy[Math.floor(copy.length / 2)]! ^= 0xff;
  return { id, pack: copy };
}

describe('a push fails in-band', () => {
  it.each([
    ['with a damaged pack', (made: Change) => damaged(made)],
    [
      'with half a pack',
      ({ id, pack: bytes }: Change) => ({ id, pack: bytes.subarray(0, bytes.length >> 1) }),
    ],
    ['with no pack', ({ id }: Change) => ({ id, pack: Buffer.alloc(0) })],
    ['with random bytes', ({ id }: Change) => ({ id, pack: randomBytes(500) })],
  ])('%s, with the error of unpacking', async (_, spoil) => {
    const { report } = await expectRefused('octo/hello', bodyOf(spoil(newChange())));
    expect(report[0]).toMatch(/^unpack (?!ok$)\S/);
  });

  it.each(['refs/heads/a..b', 'refs/heads/a~b', 'refs/heads/.a', 'refs/heads/a.lock', 'heads'])(
    'with an invalid ref name: %s',
    async (ref) => {
      const { report } = await push(remote(), bodyOf(newChange(), [], ref), newClient());
      expect(report.slice(1)).toEqual([expect.stringMatching(`^ng ${ref} \\S`) as string]);
    },
  );

  it('when the repository is missing', async () => {
    const pushed = await expectRefused('octo/missing', bodyOf(newChange()));
    expect(pushed.progress.join('\n')).toMatch(/does not exist/);
  });

  it.each([
    ['the fork', /\/forks$/, 403, 'You have reached the limit of 40,000 repositories.'],
    ['the fork', /\/forks$/, 500, 'Server Error'],
    ['the pull request', /\/pulls$/, 422, 'Validation Failed'],
    ['the pull request', /\/pulls$/, 403, 'Forbidden'],
  ])('when the host refuses %s', async (_what, path, status, message) => {
    const name = `refused-${++clients}`;
    await host.createRepository('octo', name);
    const made = change(await host.tip('octo', name, 'main'));
    host.intercept = (request) =>
      request.method === 'POST' && path.test(request.path) ? { status, json: { message } } : null;
    try {
      const pushed = await expectRefused(`octo/${name}`, bodyOf(made));
      expect(pushed.progress.join('\n')).toMatch(/\S/);
    } finally {
      host.intercept = () => null;
    }
  });

  it('with a commit of more than 10 MB', async () => {
    const large = newChange(`Large\n\n${'x'.repeat(10 * MB)}\n`);
    await expectRefused('octo/hello', bodyOf(large));
  });

  it('to a repository of more than 500 MB', async () => {
    await host.createRepository('octo', 'large');
    host.repositories.get('octo/large')!.sizeKb = 501 * 1024;
    const made = change(await host.tip('octo', 'large', 'main'));
    const pushed = await expectRefused('octo/large', bodyOf(made));
    expect([...pushed.progress, ...pushed.errors].join('\n')).toContain('500 MB');
  });
});

describe('a push of more than 100 MB', () => {
  it.each([
    ['says so', {}],
    ['does not say so', { 'Transfer-Encoding': 'chunked' }],
  ])('is answered with 413 if it %s', async (_, headers) => {
    const body = Buffer.concat([bodyOf(newChange()), Buffer.alloc(100 * MB)]);
    expect((await post(remote(), body, newClient(), headers)).status).toBe(413);
  });
});

it('without a topic for alerts, none were sent, for all these pushes', () => {
  expect(clients).toBeGreaterThan(20);
  expect(host.messages.filter(({ topic }) => !topic.startsWith('anon-pr-'))).toEqual([]);
});

it('a report has the form that Git reads, also for several refs', async () => {
  const { id, pack: bytes } = newChange();
  const lines = [
    pkt(`${command(id, 'refs/heads/one')}\0 ${CAPABILITIES}`),
    pkt(command(id, 'refs/tags/two')),
    pkt(`${tip} ${ZERO_ID} refs/heads/main`),
  ];
  const answer = await post(remote(), Buffer.concat([...lines, FLUSH, FLUSH, bytes]), newClient());
  const { report } = readReport(answer.body);
  expect(report[0]).toBe('unpack ok');
  expect(report.slice(1).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'ok refs/heads/one',
    'ng refs/tags/two',
    'ng refs/heads/main',
  ]);
});
