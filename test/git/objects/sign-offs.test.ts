/** Messages that the service signs off: the person's own sign-offs go, those of others stay. */
import { describe, expect, it } from 'vitest';
import { haveOwnSignOff, MAX_SIGN_OFFS, signerOf } from '../../../src/git/objects/sign-offs.ts';
import type { NewCommit } from '../../../src/git/objects/found-commits.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { workOf } from '../../support/work-meter.ts';

const LINE = 'Signed-off-by: bot <bot@x.example>';
const BOB = 'Signed-off-by: Bob <bob@example.org>';
const OID = 'a'.repeat(40);
const HEADER = [
  `tree ${OID}`,
  'author Zo\xeb L. <zoe@home.example> 1700000000 +0100',
  'committer Z <z@work.example> 1700000000 +0100',
].join('\n');

const bytes = (text: string) => Buffer.from(text, 'latin1');
const commitOf = (message: string): NewCommit => {
  const own = { tree: OID, parents: [], committedAt: 0, encoding: null, message: bytes(message) };
  return { oid: OID, content: bytes(`${HEADER}\n\n${message}`), commit: own };
};

const signer = () => signerOf({ name: 'bot', email: 'bot@x.example' });

function signed(message: string): string {
  const commit = commitOf(message);
  const once = signer()(commit, bytes(message));
  expect(signer()(commit, once), 'signing twice changes nothing').toEqual(once);
  return Buffer.from(once).toString('latin1');
}

const isOwn = (message: string) => haveOwnSignOff([commitOf(message)]);

describe('a sign-off of one’s own', () => {
  it.each([
    'Signed-off-by: Zo\xeb L. <zoe@home.example>',
    'Signed-off-by: Z <z@work.example>',
    'signed-off-by:Z <elsewhere@example.org>',
    'Signed-off-by: A. Nother <Zoe@Home.example>',
    'Signed-off-by: Zo\xeb L.',
    'Signed-off-by: z@work.example',
    '  Signed-off-by: Z <z@work.example>  ',
    '\tSigned-off-by : Z\t<z@work.example>\r',
  ])('goes: %j', (line) => {
    expect(isOwn(`Fix\n\nWhy.\n\n${line}\n${BOB}\n`)).toBe(true);
    expect(signed(`Fix\n\nWhy.\n\n${line}\n${BOB}\n`)).toBe(`Fix\n\nWhy.\n\n${BOB}\n${LINE}\n`);
    expect(signed(`Fix\n\n${line}`)).toBe(`Fix\n\n${LINE}\n`);
    expect(signed(line)).toBe(`Anonymous contribution\n\n${LINE}\n`);
  });

  it.each([
    BOB,
    'Signed-off-by: Bob for Zo\xeb L. <bob@example.org>',
    'Signed-off-by: Bob <bob@example.org> (for Z <z@work.example>)',
    'Signed-off-by: Bob <bob@example.org>, Z <z@work.example',
    'Co-authored-by: Z <z@work.example>',
    '> Signed-off-by: Z <z@work.example>',
    'Not-Signed-off-by: Z <z@work.example>',
    'Signed-off-by:',
    'Signed-off-by: <>',
  ])('is none of these, which stay: %j', (line) => {
    expect(isOwn(`Fix\n\n${line}\n`)).toBe(false);
    expect(signed(`Fix\n\n${line}\n\nEnd.\n`)).toBe(`Fix\n\n${line}\n\nEnd.\n\n${LINE}\n`);
  });
});

describe('the sign-off of the pseudonym', () => {
  it.each([
    ['', `Anonymous contribution\n\n${LINE}\n`],
    [' \r\n\n', `Anonymous contribution\n\n${LINE}\n`],
    ['Fix', `Fix\n\n${LINE}\n`],
    ['fix: it', `fix: it\n\n${LINE}\n`],
    ['\n\nfix: it\n', `\n\nfix: it\n\n${LINE}\n`],
    ['Fix\n\n\n', `Fix\n\n${LINE}\n`],
    ['Fix\r\n\r\nCloses: #1\r\n', `Fix\r\n\r\nCloses: #1\r\n${LINE}\n`],
    ['Fix\n\nVoil\xe0', `Fix\n\nVoil\xe0\n\n${LINE}\n`],
    ['Fix\n\nGr\xc3\xa0', `Fix\n\nGr\xc3\xa0\n\n${LINE}\n`],
    [`Fix\n\n${LINE}\n`, `Fix\n\n${LINE}\n`],
    [`Fix\n\n${LINE}\n${BOB}\n`, `Fix\n\n${BOB}\n${LINE}\n`],
    [`Fix\n\n${LINE}\n\nMore words.\n`, `Fix\n\n\nMore words.\n\n${LINE}\n`],
  ])('ends %j', (message, expected) => {
    expect(signed(message)).toBe(expected);
  });

  it('is written as the author is, in UTF-8', () => {
    const sign = signerOf({ name: 'bot', email: 'größe@x.example' });
    const once = sign(commitOf('Fix'), Buffer.from('Fix'));
    expect(Buffer.from(once).toString()).toBe(`Fix\n\nSigned-off-by: bot <größe@x.example>\n`);
    expect(sign(commitOf('Fix'), once)).toEqual(once);
  });

  it('takes time in proportion to the message', exhaustive, () => {
    const long = ' '.repeat(500_000);
    for (const line of [
      `Signed-off-by: a${long}b`,
      `Signed-off-by: ${'<'.repeat(500_000)}`,
      `${long}x`,
      'a-'.repeat(250_000),
    ]) {
      expect(signed(`Fix\n\n${line}\n`).endsWith(`\n${LINE}\n`)).toBe(true);
    }
  });

  it('follows a block of trailers at once, and stands alone behind so many lines that they are prose', () => {
    for (const [count, blankLines] of [
      [240, 0],
      [200_000, 1],
    ] as const) {
      const message = `Fix\n\n${'A: b\n'.repeat(count)}`;
      expect(signed(message)).toHaveLength(message.length + blankLines + LINE.length + 1);
    }
  });
});

const many = (count: number) => bytes(`Fix\n\n${'Signed-off-by:Z\n'.repeat(count)}`);

describe('sign-offs that are more than anybody has', () => {
  const tooMany = expect.objectContaining({ code: 'too-large' });

  it('are counted in all messages together', exhaustive, () => {
    const sign = signer();
    const half = many(MAX_SIGN_OFFS / 2);
    for (const message of ['one', 'two'])
      expect(Buffer.from(sign(commitOf(message), half)).toString()).toBe(`Fix\n\n${LINE}\n`);
    expect(() => sign(commitOf('three'), many(1))).toThrow(tooMany);
  });

  it('are refused', () => {
    expect(() => signer()(commitOf(''), many(MAX_SIGN_OFFS + 1))).toThrow(tooMany);
  });

  it('are not looked through to their end for one that could be replaced', async () => {
    const others = 'Signed-off-by:B\n'.repeat(MAX_SIGN_OFFS);
    const { looks } = await workOf(() => expect(isOwn(`${others}${others}Signed-off-by: Z`)).toBe(false));
    expect(looks).toBeLessThan(MAX_SIGN_OFFS + 10);
  });
});
