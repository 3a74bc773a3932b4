/** What of a client's fetch goes on to the host: what it asks for, and nothing that tells of it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LEAST_COUNTED_BYTES, MAX_FETCH_BYTES, MAX_OTHER_BYTES } from '../../../src/git/wire/fetch-lines.ts';
import { MAX_HAVES, readFetchRequest } from '../../../src/git/wire/fetch-request.ts';
import { OidTable } from '../../../src/git/objects/oid-table.ts';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { RefPrefixes } from '../../../src/git/wire/ref-prefixes.ts';
import { ByteReader } from '../../../src/git/wire/byte-reader.ts';
import { CHUNKINGS, piecesOf, readerOf } from '../../support/byte-chunks.ts';
import { oidNumber } from '../../support/objects.ts';
import { runs } from '../../support/runs.ts';
import { FLUSH, pkt, splitPkts } from '../../support/wire.ts';
import { CountedMemory, full } from '../../support/counted-memory.ts';

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

const packets = (lines: readonly string[]) => lines.map((line) => pkt(Buffer.from(`${line}\n`))).join('');
const v2 = (head: readonly string[], args: readonly string[]) =>
  Buffer.from(`${packets(head)}${DELIM}${packets(args)}${FLUSH}`, 'latin1');

const v0 = (...sections: (readonly string[])[]) => Buffer.from(sections.map(packets).join(FLUSH), 'latin1');

const known = (asked: string[][] = [], isLacking = true) => ({
  someOf: async (oids: readonly string[]) => {
    asked.push([...oids]);
    return new Set(oids.filter((oid) => oid === UPSTREAM || oid === OLDER));
  },
  firstUnknown: async (oids: OidTable) => (oids.has(LOCAL) ? { oid: LOCAL, isLacking } : null),
});

/** The lines that go on; `0000` and `0001` stand for themselves. */
function linesOf(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
    lines.push(
      length < 4
        ? bytes.toString('latin1', at, at + 4)
        : bytes.toString('utf8', at + 4, at + length).trimEnd(),
    );
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
  for (let index = 0; index <= 10_000; index++) prefixes.add(`refs/x/${index}`);
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
    const bytes = `${head.map((line) => pkt(line)).join('')}${DELIM}${pkt('ofs-delta')}${packets([`want ${WANT}`, 'done'])}${FLUSH}`;
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
    expect(await listed(...tracked)).toEqual(['refs/heads/', 'refs/tags/', 'HEAD']);
    // `git fetch origin my-name/fix`
    const expanded = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map(
      (start) => `${start}my-name/fix`,
    );
    expect(await listed(...expanded, 'refs/remotes/my-name/fix/HEAD')).toEqual([
      'refs/tags/',
      'refs/heads/',
      'refs/remotes/',
    ]);
    // `git fetch origin pull/7/head`
    expect(await listed('pull/7/head', 'refs/pull/7/head', 'refs/heads/pull/7/head')).toEqual([
      'refs/pull/7/head',
      'refs/heads/',
    ]);
    expect(await listed('refs/notes/commits', 'refs/refs/notes/commits')).toEqual(['refs/notes/commits']);
    // A pattern such as `my-*` may mean any ref.
    expect(await listed('my-')).toEqual(['HEAD', 'refs/']);
    expect(await listed()).toEqual([]);
  });

  it('for refs asks for the same refs', async () => {
    const args = ['peel', 'symrefs', 'ref-prefix refs/heads/', 'something-new'];
    expect(await relayed(v2(['command=ls-refs', 'agent=git/2.50.0'], args), 2, cut)).toEqual([
      'command=ls-refs',
      'agent=git/2.0',
      'object-format=sha1',
      DELIM,
      'peel',
      'symrefs',
      'ref-prefix refs/heads/',
      FLUSH,
    ]);
  });

  it('that only wants to know what is common is answered here', async () => {
    const args = ['wait-for-done', `have ${LOCAL}`, `have ${UPSTREAM}`, `have ${OLDER}`];
    const read = await readFetchRequest(readerOf(cut(v2(HEAD, args))), 2, known(), UNCOUNTED);
    expect(
      read.kind === 'answer' && splitPkts(read.body).map((line) => line?.toString().trimEnd() ?? null),
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

describe('a want of what upstream lacks', () => {
  const request = v2(HEAD, [`want ${WANT}`, `want ${LOCAL}`, 'done']);

  it('is refused in Git’s words, in either version', async () => {
    for (const [version, bytes] of [
      [2, request],
      [0, v0([`want ${WANT} thin-pack`, `want ${LOCAL}`], ['done'])],
    ] as const) {
      await expect(relayed(bytes, version)).rejects.toMatchObject({
        code: 'unsupported',
        publicMessage: `upload-pack: not our ref ${LOCAL}`,
      });
    }
  });

  it('is passed on if nobody can know that, and if a partial clone asks for it', async () => {
    expect(await relayed(request, 2, undefined, known([], false))).toContain(`want ${LOCAL}`);
    const filter = 'filter blob:none';
    expect(await relayed(v2(HEAD, [filter, `want ${LOCAL}`, 'done']), 2)).toContain(`want ${LOCAL}`);
    expect(await relayed(v0([`want ${LOCAL}`, filter], ['done']), 0)).toContain(
      `want ${LOCAL} agent=git/2.0`,
    );
    // A partial clone's own question names nothing that it has.
    const more = v2(HEAD, [filter, `want ${LOCAL}`, `have ${UPSTREAM}`, 'done']);
    await expect(relayed(more, 2)).rejects.toThrow('not our ref');
  });
});

it.each([0, 2] as const)('an id where Git takes only names is refused in version %i', async (version) => {
  const args = [`want ${WANT}`, `deepen-not ${LOCAL}`];
  const request = version === 2 ? v2(HEAD, [...args, 'done']) : v0(args, ['done']);
  await expect(relayed(request, version)).rejects.toMatchObject({
    code: 'unsupported',
    publicMessage: 'upload-pack: deepen-not is not a ref',
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

it('what repeats is passed on once', async () => {
  const lines = [`want ${WANT}`, `want ${OLDER}`, `have ${UPSTREAM}`];
  const sent = [...Array.from({ length: 1000 }, () => lines).flat(), 'done'];
  const passed = (await relayed(v2(['command=fetch'], sent), 2)).slice(4);
  expect(passed).toEqual([...lines, 'done', FLUSH]);
  const older = v0([`want ${WANT} thin-pack`, ...Array.from({ length: 9 }, () => `want ${OLDER}`)], ['done']);
  expect((await relayed(older, 0)).filter((line) => line === `want ${OLDER}`)).toHaveLength(1);
});

/** So many of such lines are too many. */
const few = (line: string) => (MAX_OTHER_BYTES / LEAST_COUNTED_BYTES) * line.length;

describe('a request that is too large', () => {
  const fetch = `${packets(['command=fetch'])}${DELIM}`;
  const want = packets([`want ${WANT}`]);

  const shallows = (count: number) =>
    v2(
      ['command=fetch'],
      [
        ...Array.from({ length: count }, (_, index) => `shallow ${oidNumber(100 + index)}`),
        `want ${WANT}`,
        'done',
      ],
    );

  it('is not one of as many shallow lines as are looked at; with more it is, because none can be dropped', async () => {
    expect(await relayed(shallows(MAX_HAVES), 2)).toContain(`shallow ${oidNumber(100)}`);
    await expect(relayed(shallows(MAX_HAVES + 1), 2)).rejects.toMatchObject({ code: 'too-large' });
  });

  it.each<[what: string, version: 0 | 2, beginning: string, line: string, most: number]>([
    ['wants', 0, want, want, MAX_FETCH_BYTES],
    ['haves', 0, `${want}${FLUSH}`, packets([`have ${LOCAL}`]), MAX_FETCH_BYTES],
    ['depths', 0, want, packets(['deepen 1']), few(packets(['deepen 1']))],
    ['flushes', 0, FLUSH, FLUSH, MAX_OTHER_BYTES],
    ['flushes between haves', 0, `${want}${FLUSH}`, FLUSH, few(FLUSH)],
    ['wants', 2, fetch, want, MAX_FETCH_BYTES],
    ['capabilities', 2, packets(['agent=x']), packets(['agent=x']), few(packets(['agent=x']))],
    ['lines that nobody knows', 2, fetch, packets(['x']), few(packets(['x']))],
    ['what is almost a want', 2, fetch, packets(['want x']), few(packets(['want x']))],
    [
      'prefixes',
      2,
      `${packets(['command=ls-refs'])}${DELIM}`,
      packets(['ref-prefix x']),
      few(packets(['ref-prefix x'])),
    ],
    ['empty lines', 2, fetch, '0004', few('0004')],
    ['wants that go on', 2, fetch, packets([`want ${WANT}${'1'.repeat(900)}`]), MAX_OTHER_BYTES],
    ['wants that say more', 2, fetch, packets([`want ${WANT} ${'1'.repeat(900)}`]), MAX_OTHER_BYTES],
    ['what follows its end', 2, `${fetch}${want}${FLUSH}`, 'x', MAX_OTHER_BYTES],
  ])('is read no further than its limit: %s (%i)', async (_, version, beginning, line, most) => {
    const piece = Buffer.from(line.repeat(Math.ceil((64 * 1024) / line.length)), 'latin1');
    let read = 0;
    const source = {
      async read() {
        read += piece.length;
        return read === piece.length ? Buffer.from(beginning, 'latin1') : new Uint8Array(piece);
      },
      async cancel() {},
    };
    const reading = readFetchRequest(new ByteReader(source), version, known(), UNCOUNTED);
    await expect(reading).rejects.toMatchObject({ name: 'ProtocolError', code: 'too-large' });
    expect(read).toBeGreaterThan(most);
    expect(read).toBeLessThan(most + 3 * piece.length);
  });

  it('is not one of many wants, and what is kept of it is counted before it is read', async () => {
    const wants = Array.from({ length: 200_000 }, (_, index) => `want ${oidNumber(100 + index)}`);
    const body = v2(['command=fetch'], [...wants, 'done']);
    const memory = new CountedMemory();
    const read = await readFetchRequest(readerOf(piecesOf(body, 256 * 1024)), 2, known(), memory);
    expect(linesOf(Buffer.from(read.body)).filter((line) => line.startsWith('want '))).toEqual(wants);
    expect(memory.bytes).toBeGreaterThan(read.body.buffer.byteLength);
    await expect(
      readFetchRequest(readerOf(piecesOf(body, 256 * 1024)), 2, known(), new CountedMemory(full)),
    ).rejects.toThrow('busy');
  });
});

describe('a request that is none', () => {
  it.each([
    ['another command', v2(['command=object-info'], [`oid ${LOCAL}`])],
    ['no command', Buffer.from(FLUSH)],
    ['two commands', v2(['command=ls-refs', 'command=fetch'], ['peel'])],
    ['no pkt-line', Buffer.from('GET / HTTP/1.1')],
    ['an end inside a line', v2(HEAD, [`want ${WANT}`]).subarray(0, -20)],
    [
      'a line that is no UTF-8',
      Buffer.concat([v2(HEAD, []).subarray(0, -4), Buffer.from('0006\xff\xff0000', 'latin1')]),
    ],
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
              : Buffer.from(lines.map((l) => pkt(Buffer.from(`${l}\n`))).join('') + FLUSH, 'latin1');
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
      runs(200),
    );
  });
});
