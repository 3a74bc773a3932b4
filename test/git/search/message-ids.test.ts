/** Ids in links and trailers of messages. What becomes of them: test/leaks/trails.test.ts. */
import { expect, it } from 'vitest';
import { linesWithIds, serverOf } from '../../../src/git/search/message-ids.ts';

const UUID = '019cb9fe-b11b-753f-99e7-8ecc52b73ec4';
const RUN = '01AbCd23EfGh45IjKl67MnOp';
const HEX = '0123456789abcdef'.repeat(2);

const found = (text: string) =>
  [...linesWithIds(text)].map(({ start, key, server }) => [text.slice(start, start + 8), key, server]);

it.each([
  [`Claude-Session: https://claude.ai/code/session_${RUN}`, 'claude-session:', '//claude.ai'],
  [`Amp-Thread-ID: T-${UUID}`, 'amp-thread-id:', null],
  [`Amp-Thread-ID:\n https://ampcode.com/threads/T-${UUID}`, 'amp-thread-id:', '//ampcode.com'],
  [`Amp-Thread-ID:\n\t \n https://ampcode.com/threads/T-${UUID}`, 'amp-thread-id:', '//ampcode.com'],
  [`git-svn-id: svn+ssh://ada@svn.corp.example:22/trunk@12 ${UUID}`, 'git-svn-id:', null],
  [`X-Session: internationalizationsupport-${UUID}`, 'x-session:', null],
  [`https://x.example/voil\u00c3\u00a0/${RUN}`, null, '//x.example'],
  [`Claude-Session: claude --resume ${UUID}`, 'claude-session:', null],
  [`Link to Devin session: https://app.devin.ai/sessions/${HEX}`, null, '//app.devin.ai'],
  [`Note: see https://x.example/?id=${HEX}&a`, null, '//x.example'],
  [`Follow-up: see https://x.example/${HEX}`, null, '//x.example'],
  [`See <https://X.example/${RUN}>.`, null, '//x.example'],
  [`https://user@x.example/${RUN}`, null, '//x.example'],
  [`See [it](https://x.example/${RUN})`, null, '//x.example'],
])('%j holds one', (text, key, server) => {
  expect(found(`Mend it\n\n${text}\n`)).toEqual([[text.slice(0, 8), key, server]]);
});

it.each([
  `The id ${UUID} is in no link`,
  `Fixes: ${'0123456789abcdef'.repeat(3).slice(0, 40)} ("It")`,
  'https://docs.example/struct.X509CertificateBuilderOptions.html',
  'https://x.example/how-to-write-20-characters-in-3-words',
  'https://x.example/1234567890123456789012345',
  `Digest: sha256:${'0123456789abcdef'.repeat(4)}`,
  `https://x.example/ ${RUN}`,
  `A: b\n\n  ${RUN}`,
  `Note: in ${RUN}`,
  `Follow-up: we saw ${UUID} again`,
  'thread-pool: rename Utf8Thread2PoolBuilder3',
  'chat-template: support Llama4Maverick17BInstruct',
  `x${HEX}`,
])('%j holds none', (text) => {
  expect(found(`Mend it\n\n${text}`)).toEqual([]);
});

it('is in no trailer of a title, however it is folded', () => {
  expect(found(`chat-template: ${RUN}\n ${RUN}\n\n${RUN}`)).toEqual([]);
  const [link] = linesWithIds(`Session-id:\n https://x.example/${RUN}\n`);
  expect(link).toMatchObject({ start: 12, key: null, server: '//x.example' });
});

it('is in no trailer that is folded into more lines than anybody writes', () => {
  const [few, many] = [10, 30].map((lines) => `Mend it\n\nAmp-Thread-ID:\n${' \n'.repeat(lines)} ${UUID}\n`);
  expect(found(few!)).toEqual([['Amp-Thre', 'amp-thread-id:', null]]);
  expect(found(many!)).toEqual([]);
});

it('is one of several in a line', () => {
  expect(found(`Mend it\n\nLink: https://a.example/${RUN} https://b.example/${HEX}`)).toEqual([
    ['Link: ht', 'link:', '//a.example'],
    ['Link: ht', 'link:', '//b.example'],
  ]);
});

it('ends its search when no more looks are wanted', () => {
  let left = 2;
  const words = [...linesWithIds(`A\n\ninternationalization ${'0'.repeat(40)}\n`, () => left-- > 0)];
  expect([words, left]).toEqual([[], 2]);
  const lines = linesWithIds(`\n${`a: ${UUID}\n`.repeat(5)}`, () => left-- > 0);
  expect([...lines]).toHaveLength(2);
});

it('reads the server of an address', () => {
  expect(serverOf('https://github.com/octo/hello')).toBe('//github.com');
});
