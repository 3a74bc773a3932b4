/** Title and body of a pull request, from messages of every kind. */
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseCommit } from '../../../src/git/objects/commit.ts';
import { decoderOf, pullRequestText } from '../../../src/git/objects/commit-message.ts';
import { commitContent } from '../../support/objects.ts';
import { runs } from '../../support/runs.ts';
import { workOf } from '../../support/work-meter.ts';

const textOf = (message: string | Uint8Array, encoding?: string) =>
  pullRequestText(
    parseCommit(commitContent({ message, headers: encoding === undefined ? '' : `encoding ${encoding}\n` })),
  );

describe('pullRequestText', () => {
  it.each([
    ['Title\n', 'Title', ''],
    ['Title', 'Title', ''],
    ['Title\n\nBody\n', 'Title', 'Body'],
    ['Title\nno blank line\n', 'Title', 'no blank line'],
    ['Title\n\n\n  First\n\nSecond\n\n\n', 'Title', 'First\n\nSecond'],
    ['\n\n  Title  \n\nBody', 'Title', 'Body'],
    ['Title\r\n\r\nBody\r\n', 'Title', 'Body'],
    ['Über Größe ✓\n\n日本語\n', 'Über Größe ✓', '日本語'],
    ['Ti\0tle\n\nBo\0dy', 'Title', 'Body'],
    ['\ufeffTitle\n', 'Title', ''],
  ])('reads %j', (message, title, body) => {
    expect(textOf(message)).toEqual({ title, body });
  });

  it.each(['', '\n', '  \n\t\n', '\0'])('has a title of its own for the message %j', (message) => {
    expect(textOf(message)).toEqual({ title: 'Anonymous contribution', body: '' });
  });

  it('reads the message in the encoding that the commit names', () => {
    expect(textOf(Buffer.from([0x47, 0x72, 0xf6, 0xdf, 0x65, 0x0a]), 'ISO-8859-1').title).toBe('Größe');
    expect(textOf(Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67]), 'Shift_JIS').title).toBe('テスト');
  });

  it.each([
    ['EUCJP', 'c6fccbdcb8ec', '日本語'],
    ['cp936', 'd6d0cec4', '中文'],
    ['cp949', 'c7d1b1b9', '한국'],
    ['latin-1', '636166e9', 'café'],
  ])('reads the encoding %s, as some programs call it', (encoding, hex, title) => {
    expect(textOf(Buffer.from(hex, 'hex'), encoding).title).toBe(title);
  });

  it('reads an encoding that it does not know as UTF-8', () => {
    expect(textOf('Größe\n', 'x-klingon').title).toBe('Größe');
  });

  it('shows bytes that are no text as replacement characters', () => {
    expect(textOf(Buffer.from([0x61, 0xff, 0x62])).title).toBe('a\ufffdb');
  });

  it('lets a title of 256 characters stand, and moves a longer one into the body too', () => {
    const exact = 'x'.repeat(256);
    expect(textOf(`${exact}\n\nBody\n`)).toEqual({ title: exact, body: 'Body' });
    const long = 'y'.repeat(257);
    expect(textOf(`${long}\n\nBody\n`)).toEqual({ title: `${'y'.repeat(255)}…`, body: `${long}\n\nBody` });
    expect(textOf(long).body).toBe(long);
  });

  it.each([
    ['letters', 'b'],
    ['characters of four bytes', '\u{1f600}'],
  ])(
    'decodes no more than is shown of megabytes of %s, blank lines before them or not',
    async (_, letter) => {
      const body = letter.repeat(70_000);
      for (const message of [
        `Title\n\n${body.repeat(40)}\n`,
        `${'\n'.repeat(1_000_000)}Title\n\n${body.repeat(40)}\n`,
      ]) {
        const { bytes } = await workOf(() => expect(textOf(message)).toEqual(textOf(`Title\n\n${body}`)));
        expect(bytes).toBeLessThan(3 * 4 * 65_536);
      }
    },
  );

  it('cuts a body that the host would refuse', () => {
    const { body } = textOf(`Title\n\n${'b'.repeat(70_000)}\n`);
    expect(body).toHaveLength(65_536);
    expect(body.endsWith('b…')).toBe(true);
  });

  it('never cuts a character in two', () => {
    for (const lead of ['', 'a']) {
      const { title } = textOf(`${lead}${'😀'.repeat(200)}\n`);
      expect(title.length).toBeLessThanOrEqual(256);
      expect(title.isWellFormed()).toBe(true);
    }
  });

  it('gives a non-empty title within the limits for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (message) => {
        const { title, body } = textOf(message);
        expect(title.length).toBeGreaterThan(0);
        expect(title.length).toBeLessThanOrEqual(256);
        expect(title + body).not.toContain('\0');
        expect(title).not.toContain('\n');
      }),
      runs(70),
    );
  });
});

it('looks up the name of an encoding once, whether it is known or not', () => {
  for (const [encoding, expected] of [
    ['nonsense', 'utf-8'],
    ['iso8859-15', 'iso-8859-15'],
  ] as const) {
    const labels: (string | undefined)[] = [];
    const Real = TextDecoder;
    vi.stubGlobal(
      'TextDecoder',
      class extends Real {
        constructor(label?: string) {
          labels.push(label);
          super(label);
        }
      },
    );
    for (let at = 0; at < 1_000; at++) expect(decoderOf(encoding).encoding).toBe(expected);
    vi.unstubAllGlobals();
    expect(labels.filter((label) => label !== undefined && label !== expected).length).toBeLessThan(5);
  }
});
