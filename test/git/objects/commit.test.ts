/** Reads commits, and writes the anonymous one that takes the place of each. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeAnonymousCommit,
  parseCommit,
  parseHistory,
  personLines,
} from '../../../src/git/objects/commit.ts';
import { oidBytes } from '../../../src/git/objects/oid.ts';
import { COMMITTER, commitContent, EMPTY_TREE, oidNumber, PRIVATE_WORDS } from '../../support/objects.ts';
import { runs } from '../../support/runs.ts';

const BOT = { name: 'gitveil-bot', email: 'anonymous@gitveil.invalid' };
const NOW = 1_800_000_000;
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const messageOf = (content: Uint8Array) => textOf(parseCommit(content).message);

const SIGNATURE = [
  'gpgsig -----BEGIN PGP SIGNATURE-----',
  ' ',
  ' iQEzBAABCAAdFiEE',
  ' author Eve <eve@example.org> 1 +0000',
  ' -----END PGP SIGNATURE-----',
  '',
].join('\n');

describe('parseCommit', () => {
  it('reads tree, parents in their order, date, encoding and message', () => {
    const commit = parseCommit(
      commitContent({
        parents: [oidNumber(2), oidNumber(1)],
        headers: 'encoding ISO-8859-1\n',
        message: 'Title\n\nBody\n',
      }),
    );
    expect({ ...commit, message: textOf(commit.message) }).toEqual({
      tree: EMPTY_TREE,
      parents: [oidNumber(2), oidNumber(1)],
      committedAt: 1_700_000_100,
      encoding: 'ISO-8859-1',
      message: 'Title\n\nBody\n',
    });
  });

  it.each([
    ['a signature', SIGNATURE],
    ['a signature of SHA-256', SIGNATURE.replace('gpgsig', 'gpgsig-sha256')],
    ['a merged tag', `mergetag object ${oidNumber(9)}\n type commit\n tag v1\n \n parent ${oidNumber(8)}\n`],
    ['headers of the future', 'future something\n and more\n'],
    ['a line without a word', '\u0000\n'],
  ])('passes over %s', (_, headers) => {
    const commit = parseCommit(commitContent({ parents: [oidNumber(1)], headers }));
    expect(commit.parents).toEqual([oidNumber(1)]);
    expect(textOf(commit.message)).toBe('A change\n');
    expect(commit.committedAt).toBe(1_700_000_100);
  });

  it('agrees with parseHistory, which stops behind the date', () => {
    const oids = fc.array(fc.nat(99).map(oidNumber), { maxLength: 4 });
    const headers = fc.constantFrom('', SIGNATURE, 'encoding x\n', 'committer x <> 5 +0000\n');
    fc.assert(
      fc.property(oids, headers, (parents, more) => {
        const content = commitContent({ parents, headers: more });
        const { committedAt } = parseCommit(content);
        expect(parseHistory(content)).toEqual({ parents, committedAt });
      }),
      runs(35),
    );
    expect(parseHistory(Buffer.from('tree\n\nparent x\n'))).toEqual({ parents: [], committedAt: 0 });
    expect(() => parseHistory(Buffer.from('parent x\n\n'))).toThrow('malformed commit');
  });

  it.each([
    ['no message', '', ''],
    ['a message of one line feed', '\n', '\n'],
    ['a message that begins with a blank line', '\nTitle\n', '\nTitle\n'],
    ['a message without a line feed at its end', 'Title', 'Title'],
    ['a message with carriage returns', 'Title\r\n\r\nBody\r\n', 'Title\r\n\r\nBody\r\n'],
    [
      'a message that looks like headers',
      `tree ${oidNumber(1)}\nparent x\n`,
      `tree ${oidNumber(1)}\nparent x\n`,
    ],
    ['a message with NUL', 'a\0b', 'a\0b'],
  ])('gives %s as it is', (_, message, expected) => {
    expect(messageOf(commitContent({ message }))).toBe(expected);
  });

  it('gives an empty message of a commit that ends with its headers', () => {
    const headersOnly = `tree ${EMPTY_TREE}\nauthor x\ncommitter ${COMMITTER}`;
    expect(messageOf(Buffer.from(headersOnly))).toBe('');
    expect(messageOf(Buffer.from(`${headersOnly}\n`))).toBe('');
  });

  it.each([
    ['Charles <c@example.org> 1700000100 +0000', 1_700_000_100],
    ['Charles <c@example.org> 0 +0000', 0],
    ['<> 12 -1200', 12],
    ['Charles > 5 +0000 <c@example.org> 9 +0000', 9],
    ['Charles <c@example.org> 4102444800 +0000', 4_102_444_800],
    ['Charles <c@example.org> -5 +0000', 0],
    ['Charles <c@example.org> 99999999999999999999 +0000', 0],
    ['Charles <c@example.org> 1700000100', 0],
    ['Charles <c@example.org> 1700000100 +000', 0],
    ['Charles <c@example.org> 1700000100 00000', 0],
    ['Charles <c@example.org> 1700000100 +00x0', 0],
    ['Charles <c@example.org> 1700000100+0000', 0],
    ['Charles <c@example.org> x1700000100 +0000', 0],
    ['Charles <c@example.org> 999999999999999 +0000', 999_999_999_999_999],
    ['Charles <c@example.org> 1000000000000000 +0000', 0],
    ['Charles <c@example.org>  +0000', 0],
    ['7 +0000', 7],
    ['Charles <c@example.org>', 0],
    ['', 0],
  ])('reads the date of "%s" as %i', (committer, expected) => {
    expect(parseCommit(commitContent({ committer })).committedAt).toBe(expected);
  });

  it.each([
    ['UTF-8', 'UTF-8'],
    ['ISO-8859-15', 'ISO-8859-15'],
    ['Shift_JIS', 'Shift_JIS'],
    ['koi8-r', 'koi8-r'],
    ['', null],
    [' UTF-8', null],
    ['UTF-8 by Ada', null],
    ['Ada <ada@example.org>', null],
    ['A'.repeat(41), null],
    ['UTF\u00e9', null],
  ])('takes the encoding %j for %j', (name, expected) => {
    expect(parseCommit(commitContent({ headers: `encoding ${name}\n` })).encoding).toBe(expected);
  });

  it.each([
    ['nothing', ''],
    ['no tree', `author x\ncommitter ${COMMITTER}\n\nm`],
    ['a tree behind the blank line', `author x\n\ntree ${EMPTY_TREE}\n`],
    ['a short tree', `tree ${EMPTY_TREE.slice(1)}\nauthor x\n\nm`],
    ['an upper-case tree', `tree ${EMPTY_TREE.toUpperCase()}\nauthor x\n\nm`],
    ['a malformed parent', `tree ${EMPTY_TREE}\nparent xyz\nauthor x\n\nm`],
    ['a parent with more behind it', `tree ${EMPTY_TREE}\nparent ${oidNumber(1)} \nauthor x\n\nm`],
    ['a tree that is a continuation', `x\n tree ${EMPTY_TREE}\n\nm`],
  ])('refuses a commit with %s', (_, content) => {
    expect(() => parseCommit(Buffer.from(content))).toThrow(expect.objectContaining({ code: 'bad-pack' }));
  });

  it('reads or refuses any bytes, and throws nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          parseCommit(Buffer.concat([Buffer.from(`tree ${EMPTY_TREE}\n`), bytes]));
        } catch (error) {
          expect(error).toMatchObject({ name: 'ProtocolError', code: 'bad-pack' });
        }
      }),
      runs(70),
    );
  });
});

function encoded(content: Uint8Array, parents: readonly string[] = [], bot = BOT): Uint8Array {
  const { tree, encoding, message } = parseCommit(content);
  const parts = { tree: oidBytes(tree), parents: parents.map(oidBytes), encoding, message };
  return encodeAnonymousCommit(parts, personLines(bot, NOW));
}
const anonymous = (content: Uint8Array, parents: readonly string[] = []) => textOf(encoded(content, parents));

describe('encodeAnonymousCommit', () => {
  it('writes a head of any length, and names in UTF-8', () => {
    const parents = Array.from({ length: 100 }, (_, index) => oidNumber(index));
    const bot = { name: 'bót', email: 'a@example.org' };
    const original = commitContent({ message: 'm' });
    const { tree } = parseCommit(original);
    for (const named of [parents, parents.slice(0, 1), []]) {
      const content = encoded(original, named, bot);
      const lines = named.map((parent) => `parent ${parent}\n`).join('');
      const signature = `bót <a@example.org> ${NOW} +0000`;
      const expected = `tree ${tree}\n${lines}author ${signature}\ncommitter ${signature}\n\nm`;
      expect(Buffer.from(content).toString()).toBe(expected);
    }
  });

  it('holds tree, parents, the bot, the service time in UTC and the message, and nothing else', () => {
    const original = commitContent({
      parents: [oidNumber(1), oidNumber(2)],
      headers: `${SIGNATURE}mergetag object ${oidNumber(9)}\n tagger Ada Lovelace <ada@example.org> 1 +0530\nx-mine 1\n`,
      message: 'Title\n\nBody\n',
    });
    expect(anonymous(original, [oidNumber(3), oidNumber(2)])).toBe(
      [
        `tree ${EMPTY_TREE}`,
        `parent ${oidNumber(3)}`,
        `parent ${oidNumber(2)}`,
        'author gitveil-bot <anonymous@gitveil.invalid> 1800000000 +0000',
        'committer gitveil-bot <anonymous@gitveil.invalid> 1800000000 +0000',
        '',
        'Title\n\nBody\n',
      ].join('\n'),
    );
  });

  it('keeps the encoding, which says how to read the message', () => {
    const original = commitContent({ headers: 'encoding ISO-8859-1\n', message: Buffer.from([0xe9, 0x0a]) });
    expect(anonymous(original)).toMatch(/\+0000\nencoding ISO-8859-1\n\n\u00e9\n$/);
  });

  it('keeps any message byte for byte, and of any header nothing', () => {
    const headers = fc.array(
      fc.tuple(fc.constantFrom('gpgsig', 'mergetag', 'author', 'x-ray'), fc.uint8Array({ maxLength: 30 })),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), headers, (message, lines) => {
        const hidden = lines.map(([name, value]) =>
          Buffer.concat([
            Buffer.from(`${name} `),
            Buffer.from(value.filter((byte) => byte !== 0x0a)),
            Buffer.from(' Ada Lovelace\n'),
          ]),
        );
        const original = commitContent({ headers: Buffer.concat(hidden), message });
        const content = encoded(original);
        const head = textOf(content.subarray(0, content.byteLength - message.byteLength));
        expect(Buffer.from(content.subarray(head.length))).toEqual(Buffer.from(message));
        for (const word of PRIVATE_WORDS) expect(head).not.toContain(word);
        expect(head.split('\n')).toHaveLength(5);
      }),
      runs(70),
    );
  });
});
