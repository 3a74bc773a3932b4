/**
 * The part of a client's fetch that goes on to the host: what it asks for, and nothing that tells
 * of it.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_OTHER_LINES } from '../../../src/git/wire/fetch-lines.ts';
import { MAX_HAVES, MAX_SHALLOWS, MAX_WANTS, readFetchRequest } from '../../../src/git/wire/fetch-request.ts';
import { MAX_PREFIX_BYTES, RefPrefixes } from '../../../src/git/wire/ref-prefixes.ts';
import { encodeHistoryFetch, encodeLsRefs, startOfDay } from '../../../src/git/wire/protocol-v2.ts';
import type { OidTable } from '../../../src/git/objects/oid-table.ts';
import { type Memory, UNCOUNTED } from '../../../src/git/memory.ts';
import { CHUNKINGS, piecesOf, readerOf } from '../../support/byte-chunks.ts';
import { oidNumber } from '../../support/objects.ts';
import { runs } from '../../support/runs.ts';
import { CountedMemory, full } from '../../support/counted-memory.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { FLUSH, pktText, readPkts } from '../../support/pkt-line.ts';

const WANT = oidNumber(1);
const UPSTREAM = oidNumber(2);
const OLDER = oidNumber(3);
const LOCAL = oidNumber(4);
const DELIM = '0001';

const HEAD = [
  'command=fetch',
  'agent=git/2.50.0-Linux',
  'session-id=secret',
  'object-format=sha1',
  'server-option=me',
];

/** Most lines are: a call of `Buffer` takes longer than all else that is done with one. */
const IS_ASCII = /^[ -~]*\n?$/;
const utf8 = (text: string) => Buffer.from(text).toString('latin1');
const packets = (lines: readonly string[]) =>
  lines.map((line) => pktText(IS_ASCII.test(line) ? `${line}\n` : utf8(`${line}\n`))).join('');
const v2 = (head: readonly string[], args: readonly string[]) =>
  Buffer.from(`${packets(head)}${DELIM}${packets(args)}${FLUSH}`, 'latin1');

const v0 = (...sections: (readonly string[])[]) => Buffer.from(sections.map(packets).join(FLUSH), 'latin1');

const known = (asked: string[][] = []) => ({
  someOf: async (table: OidTable) => {
    const oids = [...table.oids()];
    if (oids.length > 0) asked.push(oids);
    return oids.filter((oid) => oid === UPSTREAM || oid === OLDER);
  },
  hasAll: async (oids: OidTable) => !oids.has(LOCAL),
});

/** The lines that go on; `0000` and `0001` stand for themselves. */
function linesOf(bytes: Buffer): string[] {
  const lines: string[] = [];
  const text = bytes.toString('latin1');
  for (let at = 0; at < text.length;) {
    const digits = text.slice(at, at + 4);
    const length = Number.parseInt(digits, 16);
    const line = text.slice(at + 4, at + length);
    if (length < 4) lines.push(digits);
    else lines.push((IS_ASCII.test(line) ? line : Buffer.from(line, 'latin1').toString()).trimEnd());
    at += Math.max(4, length);
  }
  return lines;
}

/** Nothing of a request that is answered here. */
async function passedOn(request: Buffer, version: 0 | 2): Promise<string[]> {
  const { kind, body } = await readFetchRequest(readerOf([request]), version, known(), UNCOUNTED);
  return kind === 'answer' ? [] : linesOf(Buffer.from(body));
}

async function relayed(
  request: Buffer,
  version: 0 | 2,
  cut: (bytes: Uint8Array) => readonly Uint8Array[] = (bytes) => [bytes],
  upstream = known(),
): Promise<string[]> {
  const read = await readFetchRequest(readerOf(cut(request)), version, upstream, UNCOUNTED);
  if (read.kind !== 'relay') throw new Error('answered');
  return linesOf(Buffer.from(read.body));
}

it('lists everything if more is asked for than is kept', () => {
  const prefixes = new RefPrefixes();
  for (let bytes = 0; bytes <= MAX_PREFIX_BYTES; bytes += 10) prefixes.add(`refs/x/${bytes}`);
  expect(prefixes.widened()).toEqual(['HEAD', 'refs/']);
});

describe.each(CHUNKINGS)('a fetch of version 2 in %s chunks', (_, cut) => {
  it('loses commits of the client’s own, its name and its session', async () => {
    const args = ['thin-pack', 'ofs-delta', `want ${WANT}`, `have ${LOCAL}`, `have ${UPSTREAM}`, 'done'];
    expect(await relayed(v2(HEAD, args), 2, cut)).toEqual([
      'command=fetch',
      'agent=git/2.0',
      'object-format=sha1',
      DELIM,
      'thin-pack',
      'ofs-delta',
      `want ${WANT}`,
      `have ${UPSTREAM}`,
      'done',
      FLUSH,
    ]);
  });

  it('keeps whatever else a client may ask for', async () => {
    const args = [
      'no-progress',
      'include-tag',
      'deepen 3',
      'deepen-since 1699920000',
      'deepen-not refs/heads/größe',
      'deepen-relative',
      'filter combine:blob:limit=10k+tree:3',
      `want ${WANT}`,
      'want-ref refs/heads/main',
    ];
    const lines = await relayed(v2(['command=fetch'], args), 2, cut);
    expect(lines.slice(4, -1).toSorted()).toEqual(args.toSorted());
    expect(lines.at(-1)).toBe(FLUSH);
  });

  it.each([
    [1_700_000_000, 1_699_920_000],
    [1_699_920_000, 1_699_920_000],
    [1, 1],
  ])('asks for the whole day of %i', async (since, asked) => {
    const want = `want ${WANT}`;
    const lines = await relayed(v2(['command=fetch'], [`deepen-since ${since}`, want, 'done']), 2, cut);
    expect(lines.slice(4, -1)).toEqual([`deepen-since ${asked}`, want, 'done']);
    const older = await relayed(v0([want, `deepen-since ${since}`], ['done']), 0, cut);
    expect(older.slice(1, -1)).toEqual([`deepen-since ${asked}`, FLUSH]);
  });

  it.each([
    ['its capabilities first', ['object-format=sha1', 'command=fetch', 'agent=git/2.30.2']],
    ['its command last', ['agent=git/2.28.0', 'object-format=sha1', 'command=fetch']],
  ])('may have %s, and no line feeds', async (_what, head) => {
    const bytes = `${head.map((line) => pktText(line)).join('')}${DELIM}${pktText('ofs-delta')}${packets([`want ${WANT}`, 'done'])}${FLUSH}`;
    const expected = ['command=fetch', 'agent=git/2.0', 'object-format=sha1', DELIM];
    expect(await relayed(Buffer.from(bytes, 'latin1'), 2, cut)).toEqual([
      ...expected,
      'ofs-delta',
      `want ${WANT}`,
      'done',
      FLUSH,
    ]);
  });

  it.each(['fetch', 'ls-refs'])('is refused as %s in another object format', async (command) => {
    for (const head of [
      [`command=${command}`, 'object-format=sha256'],
      ['object-format=sha256', `command=${command}`],
    ]) {
      await expect(relayed(v2(head, []), 2, cut)).rejects.toMatchObject({
        code: 'unsupported',
        publicMessage: 'Mismatched object format: only sha1 is supported.',
      });
    }
  });

  it('keeps where a shallow clone ends, if upstream has those commits', async () => {
    const lines = await relayed(
      v2(['command=fetch'], [`shallow ${OLDER}`, 'deepen 1', `want ${WANT}`]),
      2,
      cut,
    );
    expect(lines).toContain(`shallow ${OLDER}`);
    const stranger = v2(['command=fetch'], [`shallow ${LOCAL}`, `want ${WANT}`]);
    await expect(relayed(stranger, 2, cut)).rejects.toMatchObject({ code: 'unsupported' });
  });

  const listed = async (...prefixes: string[]) => {
    const args = ['peel', ...prefixes.map((prefix) => `ref-prefix ${prefix}`)];
    const lines = await relayed(v2(['command=ls-refs'], args), 2, cut);
    expect(lines.slice(4, 5)).toEqual(['peel']);
    return lines.slice(5, -1).map((line) => line.replace('ref-prefix ', ''));
  };

  it('lists refs without the names of the client’s branches', async () => {
    // `git pull` on a branch that was pushed with -u.
    const tracked = ['refs/heads/', 'refs/heads/my-name/fix', 'refs/tags/', 'HEAD'];
    expect(await listed(...tracked)).toEqual(['HEAD', 'refs/heads/', 'refs/tags/']);
    // `git fetch origin my-name/fix`
    const expanded = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map(
      (start) => `${start}my-name/fix`,
    );
    expect(await listed(...expanded, 'refs/remotes/my-name/fix/HEAD')).toEqual([
      'HEAD',
      'refs/heads/',
      'refs/remotes/',
      'refs/tags/',
    ]);
    // `git fetch` in a clone of one branch
    const starts = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'];
    const whole = starts.map((start) => `${start}refs/heads/main`);
    expect(await listed(...whole, 'refs/remotes/refs/heads/main/HEAD', 'refs/tags/')).toEqual([
      'HEAD',
      'refs/heads/',
      'refs/tags/',
    ]);
    expect(await listed('refs/heads/refs/fix')).toEqual(['HEAD', 'refs/heads/']);
    // `git fetch origin pull/7/head`
    expect(await listed('pull/7/head', 'refs/pull/7/head', 'refs/heads/pull/7/head')).toEqual([
      'HEAD',
      'refs/heads/',
      'refs/pull/7/head',
    ]);
    expect(await listed('refs/notes/commits', 'refs/refs/notes/commits')).toEqual(['refs/notes/commits']);
    // A pattern such as `my-*` may mean any ref.
    expect(await listed('my-')).toEqual(['HEAD', 'refs/']);
    expect(await listed()).toEqual([]);
  });

  /** `git fetch` of Git 2.39, `git fetch` of 2.48, `git clone` of both. */
  it.each([
    [['refs/heads/', 'refs/tags/']],
    [['refs/heads/', 'refs/tags/', 'HEAD']],
    [['HEAD', 'refs/heads/', 'refs/tags/']],
  ])('for the refs %j asks as every Git, and as the service itself', async (prefixes) => {
    const args = ['symrefs', 'peel', 'unborn', ...prefixes.map((each) => `ref-prefix ${each}`), 'new'];
    const lines = await relayed(v2(['command=ls-refs', 'agent=git/2.50.0'], args), 2, cut);
    const own = encodeLsRefs(['HEAD', 'refs/heads/', 'refs/tags/']);
    expect(lines).toEqual(linesOf(Buffer.from(own)));
  });

  it('for the history of a branch asks as the service itself', async () => {
    const settings = ['thin-pack', 'no-progress', 'include-tag', 'ofs-delta'];
    const depth = ['deepen-since 1700000000', 'filter tree:0'];
    const args = [...settings, ...depth, `want ${WANT}`, 'done'];
    const own = encodeHistoryFetch({ wants: [WANT], since: startOfDay(1_700_000_000) });
    expect(await relayed(v2(HEAD, args), 2, cut)).toEqual(linesOf(Buffer.from(own)));
  });

  it('that only wants to know what is common is answered here', async () => {
    const args = ['wait-for-done', `have ${LOCAL}`, `have ${UPSTREAM}`, `have ${OLDER}`];
    const read = await readFetchRequest(readerOf(cut(v2(HEAD, args))), 2, known(), UNCOUNTED);
    expect(
      read.kind === 'answer' && readPkts(read.body).map((line) => line?.toString().trimEnd() ?? null),
    ).toEqual(['acknowledgments', `ACK ${UPSTREAM}`, `ACK ${OLDER}`, null]);
  });
});

async function answerTo(request: Buffer): Promise<string> {
  const { kind, body } = await readFetchRequest(readerOf([request]), 2, known(), UNCOUNTED);
  expect(kind).toBe('answer');
  return Buffer.from(body).toString();
}

it('a negotiation without anything common is told so', async () => {
  expect(await answerTo(v2(HEAD, ['wait-for-done', `have ${LOCAL}`]))).toContain('NAK\n');
});

it('a round without anything common is answered here, and the host is not asked', async () => {
  const round = v2(HEAD, [`want ${WANT}`, `have ${LOCAL}`]);
  expect(await answerTo(round)).toBe('0014acknowledgments\n0008NAK\n0000');
  // The last round goes on, as the client has nothing more to name.
  expect(await relayed(v2(HEAD, [`want ${WANT}`, `have ${LOCAL}`, 'done']), 2)).toContain('done');
});

it('every want is passed on, known or not', async () => {
  expect(await relayed(v2(HEAD, [`want ${WANT}`, `want ${LOCAL}`, 'done']), 2)).toContain(`want ${LOCAL}`);
  const older = v0([`want ${WANT} thin-pack`, `want ${LOCAL}`], ['done']);
  expect(await relayed(older, 0)).toContain(`want ${LOCAL}`);
});

it.each([0, 2] as const)('an id where Git takes only names is refused in version %i', async (version) => {
  const args = [`want ${WANT}`, `deepen-not ${LOCAL}`];
  const request = version === 2 ? v2(HEAD, [...args, 'done']) : v0(args, ['done']);
  await expect(relayed(request, version)).rejects.toMatchObject({
    code: 'unsupported',
    publicMessage: 'upload-pack: deepen-not is not a ref',
  });
});

describe.each<[what: string, line: string]>([
  ['that nobody knows', 'x'],
  ['that are empty', ''],
  ['of depths', 'deepen 1'],
  ['of objects without their ids', 'want x'],
  ['that end it', 'done'],
])('a request of many lines %s', (_, line) => {
  const many = (count: number) => Array.from({ length: count }, () => line);

  it('goes on, and then is told so, in a fetch of version 2', async () => {
    const most = [`want ${WANT}`, ...many(MAX_OTHER_LINES - HEAD.length)];
    expect(await passedOn(v2(HEAD, most), 2)).toContain(`want ${WANT}`);
    await expect(passedOn(v2(HEAD, [...most, line]), 2)).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('goes on, and then is told so, in an older version', async () => {
    const want = `want ${WANT}`;
    expect(await passedOn(v0([want], many(MAX_OTHER_LINES)), 0)).toContain(`${want} agent=git/2.0`);
    await expect(passedOn(v0([want], many(MAX_OTHER_LINES + 1)), 0)).rejects.toMatchObject({
      code: 'unsupported',
    });
  });

  it('goes on, and then is told so, among capabilities, and where refs are listed', async () => {
    const most = many(MAX_OTHER_LINES - 2);
    for (const [head, args] of [
      [['command=ls-refs', ...most], ['peel']],
      [['command=ls-refs'], ['peel', ...most]],
    ] as const) {
      expect(await passedOn(v2(head, args), 2)).toContain('command=ls-refs');
      const tooMany = [...args, line];
      await expect(passedOn(v2(head, tooMany), 2)).rejects.toMatchObject({ code: 'unsupported' });
    }
  });
});

const flushes = (count: number) => v0([`want ${WANT}`], ...Array.from({ length: count }, () => []), ['done']);

it('a request of endless flushes is told so', async () => {
  expect(await passedOn(flushes(100), 0)).toContain('done');
  await expect(passedOn(flushes(MAX_OTHER_LINES + 2), 0)).rejects.toMatchObject({ code: 'unsupported' });
});

it.each([0, 2] as const)('each object is asked for once, in version %i', async (version) => {
  const lines = [WANT, OLDER, WANT, OLDER].flatMap((oid) => [`want ${oid}`, `shallow ${oid}`, 'deepen 1']);
  const request = version === 2 ? v2(HEAD, [...lines, 'done']) : v0(lines, ['done']);
  const passed = (await relayed(request, version)).filter((line) => /^(?:want|shallow|deepen)/.test(line));
  const first = version === 2 ? `want ${WANT}` : `want ${WANT} agent=git/2.0`;
  const expected = [first, `want ${OLDER}`, `shallow ${WANT}`, `shallow ${OLDER}`, 'deepen 1'];
  expect(passed.toSorted()).toEqual(expected.toSorted());
});

it.each([0, 2] as const)('so many objects may be asked for, and no more, in version %i', async (version) => {
  const most = wantLines(MAX_WANTS);
  const request = (lines: readonly string[]) =>
    version === 2 ? v2(['command=fetch'], [...lines, 'done']) : v0(lines, ['done']);
  const passed = (await relayed(request([...most, ...most]), version)).filter((line) =>
    line.startsWith('want'),
  );
  expect(new Set(passed.map((line) => line.slice(0, 45)))).toEqual(new Set(most));
  expect(passed).toHaveLength(MAX_WANTS);
  await expect(relayed(request([...most, `want ${WANT}`]), version)).rejects.toMatchObject({
    code: 'unsupported',
    publicMessage: expect.stringContaining('git clone --single-branch'),
  });
});

it('a clone asks about no commits', async () => {
  const asked: string[][] = [];
  await relayed(v2(['command=fetch'], [`want ${WANT}`, 'done']), 2, undefined, known(asked));
  expect(asked).toEqual([]);
});

it('so many commits are looked at, and no more', async () => {
  const asked: string[][] = [];
  const haves = Array.from({ length: MAX_HAVES + 10 }, (_, index) => `have ${oidNumber(index)}`);
  await relayed(v2(['command=fetch'], [`want ${WANT}`, ...haves, 'done']), 2, undefined, known(asked));
  expect(asked.map(({ length }) => length)).toEqual([MAX_HAVES]);
});

describe.each(CHUNKINGS)('a fetch of an older version in %s chunks', (_, cut) => {
  it('loses commits of the client’s own, its name and its session', async () => {
    const caps =
      'multi_ack_detailed side-band-64k ofs-delta agent=git/2.30.1 session-id=secret object-format=sha1';
    const lines = await relayed(
      v0(
        [`want ${WANT} ${caps}`, `want ${OLDER}`, `shallow ${OLDER}`, 'deepen 2', 'filter blob:none'],
        [`have ${LOCAL}`, `have ${UPSTREAM}`],
        [`have ${OLDER}`, 'done'],
      ),
      0,
      cut,
    );
    expect(lines).toEqual([
      `want ${WANT} multi_ack_detailed side-band-64k ofs-delta object-format=sha1 agent=git/2.0`,
      `want ${OLDER}`,
      `shallow ${OLDER}`,
      'deepen 2',
      'filter blob:none',
      FLUSH,
      `have ${UPSTREAM}`,
      `have ${OLDER}`,
      'done',
    ]);
  });

  it('goes on with another round', async () => {
    const round = Buffer.concat([v0([`want ${WANT}`], [`have ${UPSTREAM}`]), Buffer.from(FLUSH)]);
    expect(await relayed(round, 0, cut)).toEqual([
      `want ${WANT} agent=git/2.0`,
      FLUSH,
      `have ${UPSTREAM}`,
      FLUSH,
    ]);
  });

  it('that wants nothing says so', async () => {
    expect(await relayed(Buffer.from(FLUSH), 0, cut)).toEqual([FLUSH]);
  });
});

it('a commit that the client has is passed on once, however often it is named', async () => {
  const haves = Array.from({ length: 1000 }, () => `have ${UPSTREAM}`);
  const expected = [`have ${UPSTREAM}`, 'done'];
  expect((await relayed(v2(HEAD, [...haves, 'done']), 2)).slice(4, -1)).toEqual(expected);
  expect((await relayed(v0([`want ${WANT}`], haves, [...haves, 'done']), 0)).slice(2)).toEqual(expected);
});

const wantLines = (count: number) =>
  Array.from({ length: count }, (_, index) => `want ${oidNumber(100 + index)}`);

/** In pieces, as a network gives them. */
const read = (body: Buffer, version: 0 | 2, memory: Memory) =>
  readFetchRequest(readerOf(piecesOf(body, 64 * 1024)), version, known(), memory);

describe('a long request', () => {
  const shallows = (count: number, more: readonly string[] = []) => {
    const lines = Array.from({ length: count }, (_, index) => `shallow ${oidNumber(100 + index)}`);
    return v2(['command=fetch'], [...lines, ...more, `want ${WANT}`, 'done']);
  };

  it('may name as many ends of a shallow clone as are looked up, and no more, because none can be dropped', async () => {
    const first = `shallow ${oidNumber(100)}`;
    expect(await relayed(shallows(MAX_SHALLOWS, [first]), 2)).toContain(first);
    await expect(relayed(shallows(MAX_SHALLOWS + 1), 2)).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('is passed on whole, and what is kept of it is counted before it is allocated', async () => {
    const wants = wantLines(20_000);
    const memory = new CountedMemory();
    const { body } = await read(v2(['command=fetch'], [...wants, 'done']), 2, memory);
    expect(linesOf(Buffer.from(body)).slice(4, -2)).toEqual(wants);
    expect(memory.bytes).toBeGreaterThan(2 * body.buffer.byteLength);
    const busy = read(v2(['command=fetch'], [...wants, 'done']), 2, new CountedMemory(full));
    await expect(busy).rejects.toThrow('busy');
  });

  it('waits for nobody as long as it is short', async () => {
    const { body } = await read(v0(wantLines(400), ['done']), 0, new CountedMemory(full));
    expect(linesOf(Buffer.from(body))).toHaveLength(402);
  });

  it.each<[what: string, version: 0 | 2, beginning: string, line: string]>([
    ['flushes between haves', 0, `${packets([`want ${WANT}`])}${FLUSH}`, FLUSH],
    ['capabilities', 2, packets(['command=fetch']), packets(['agent=x'])],
    ['lines that nobody knows', 2, `${packets(['command=fetch'])}${DELIM}`, packets(['x'])],
    ['one want', 2, `${packets(['command=fetch'])}${DELIM}`, packets([`want ${WANT}`])],
    ['prefixes', 2, `${packets(['command=ls-refs'])}${DELIM}`, packets(['ref-prefix x'])],
    ['what follows its end', 2, `${packets(['command=fetch'])}${DELIM}${FLUSH}`, 'x'],
  ])('takes little memory for megabytes of %s', exhaustive, async (_, version, beginning, line) => {
    const memory = new CountedMemory();
    const body = Buffer.from(`${beginning}${line.repeat((4 * 1024 * 1024) / line.length)}${FLUSH}`, 'latin1');
    const request = await read(body, version, memory).catch(() => null);
    expect(request?.body.byteLength ?? 0).toBeLessThan(1_000);
    expect(memory.mostBytes).toBe(0);
  });
});

describe('a request that is none', () => {
  it.each([
    ['another command', v2(['command=object-info'], [`oid ${LOCAL}`])],
    ['no command', Buffer.from(FLUSH)],
    ['two commands', v2(['command=ls-refs', 'command=fetch'], ['peel'])],
    ['no pkt-line', Buffer.from('GET / HTTP/1.1')],
    ['an end inside a line', v2(HEAD, [`want ${WANT}`]).subarray(0, -20)],
  ])('is refused: %s', async (_, request) => {
    await expect(relayed(request, 2)).rejects.toMatchObject({ name: 'ProtocolError' });
  });

  it('never makes anything go on that is not known here', async () => {
    const line = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.constantFrom(
        `have ${LOCAL}`,
        `have ${UPSTREAM}`,
        `want ${WANT}`,
        'done',
        'filter sparse:oid=secret',
        'agent=me',
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 8 }),
        fc.constantFrom(0 as const, 2 as const),
        async (lines, version) => {
          const bytes =
            version === 2
              ? v2(HEAD, lines)
              : Buffer.from(lines.map((l) => pktText(Buffer.from(`${l}\n`))).join('') + FLUSH, 'latin1');
          const passed = await passedOn(bytes, version).catch((error: { name: string }) => {
            expect(error.name).toBe('ProtocolError');
            return [];
          });
          for (const text of passed) {
            expect(text).toMatch(
              /^(?:0000|0001|command=fetch|agent=git\/2\.0|object-format=sha1|done|have [0-9a-f]{40}|want [0-9a-f]{40}(?: agent=git\/2\.0)?|thin-pack|deepen \d+)$/,
            );
            expect(text).not.toContain(LOCAL);
          }
        },
      ),
      runs(70),
    );
  });
});
