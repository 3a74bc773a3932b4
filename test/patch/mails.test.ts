/** Mails as `git format-patch` writes them, and those that would become something else. */
import { describe, expect, it } from 'vitest';
import { isPlainDiff, readMails } from '../../src/patch/mails.ts';
import { PatchError } from '../../src/patch/patch-error.ts';

const FROM = `From ${'a'.repeat(40)} Mon Sep 17 00:00:00 2001\n`;
const WHO = 'From: A U Thor <a@home.example>\nDate: Thu, 1 Jan 2026 00:00:00 +0845\n';
const DIFF = 'diff --git a/x b/x\n';
const mail = (subject: string, body = '', header = '') =>
  `${FROM}${WHO}Subject: ${subject}\n${header}\n${body}---\n x | 1 +\n\n${DIFF}`;

const bytes = (text: string): Uint8Array => Buffer.from(text);
const messagesOf = (patch: string) => readMails(bytes(patch)).map(({ message }) => message);

function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof PatchError) return error.lines.join('\n');
    throw error;
  }
  return 'it is accepted';
}

describe('the message', () => {
  it.each([
    ['its subject', mail('[PATCH 1/2] Fix it'), 'Fix it\n'],
    ['its subject and its body', mail('[PATCH] Fix it', 'One  \n\n\nTwo\n\n'), 'Fix it\n\nOne\n\nTwo\n'],
    ['a subject of several lines', mail('[PATCH] Fix\n it'), 'Fix it\n'],
    [
      'a subject in another form',
      mail('=?UTF-8?q?Fix=20gr=C3=B6=C3=9Fe?=\n =?UTF-8?b?w6Q=?='),
      'Fix größeä\n',
    ],
    ['UTF-8 as it is', mail('Größe', 'ä\n'), 'Größe\n\nä\n'],
    [
      'no fields that its body repeats',
      mail('x', 'From: Me <me@home.example>\nSubject: Other\n\nText\n'),
      'Other\n\nText\n',
    ],
    ['letters that end with the byte of a blank', mail('voilà', 'à\n'), 'voilà\n\nà\n'],
    ['blanks that Git keeps', mail('x', 'a\u00a0\nb\u3000\nc\f\n'), 'x\n\na\u00a0\nb\u3000\nc\f\n'],
    [
      'no fields of its body that go on in other lines',
      mail(
        'x',
        'From: =?UTF-8?q?Real_?=\n =?UTF-8?q?Name?= <r@home.example>\nSubject: Other\n\tsubject\n\nText\n',
      ),
      'Other subject\n\nText\n',
    ],
    [
      'what looks like a field behind a blank line',
      mail('x', '\nFrom: B <b@home.example>\n\nSubject: y\n'),
      'x\n\nSubject: y\n',
    ],
    ['its own words, whoever gets it', mail('x', '', 'To: =?iso-8859-1?Q?Andr=E9?= <a@b>\n'), 'x\n'],
    ['a line that looks like a boundary', mail('x', '--boundary\n--- a\n'), 'x\n\n--boundary\n'],
    ['what begins like a mail', mail('x', 'From here on\n'), 'x\n\nFrom here on\n'],
  ])('has %s', (_, patch, message) => {
    expect(messagesOf(patch)).toEqual([message]);
  });

  it('is one for each mail', () => {
    expect(messagesOf(mail('One') + mail('Two'))).toEqual(['One\n', 'Two\n']);
  });
});

const peopleOf = (patch: string) =>
  readMails(bytes(patch)).flatMap(({ people }) => people.map(({ name, email }) => name || email));

describe('the people', () => {
  it.each([
    ['the author', mail('x'), []],
    ['a first author', mail('x', 'From: B <b@home.example>\n\n'), ['B', 'b@home.example']],
    [
      'a first author of two lines',
      mail('x', 'From: =?UTF-8?q?Zo=C3=AB_?=\n =?UTF-8?q?D?= <z@home.example>\n\n'),
      ['Zoë D', 'z@home.example'],
    ],
  ])('are those of the header, and %s', (_, patch, others) => {
    expect(peopleOf(patch)).toEqual([...others, 'A U Thor', 'a@home.example']);
  });

  it.each([
    ['a sender', 'Sender: B <b@x.example>', ['B', 'b@x.example']],
    ['a name in brackets', 'From: b@x.example (B C)', ['b@x.example', 'B C']],
    ['those who get answers', 'reply-to: B <b@x.example>, c@x.example', ['B', 'b@x.example', 'c@x.example']],
    ['a name with a comma', 'Sender: "B, C" <b@x.example>', ['B, C', 'b@x.example']],
    ['an address alone', 'Return-Path: <b@x.example>', ['b@x.example']],
    ['a name alone', 'From: nick', ['nick']],
  ])('has %s', (_, field, others) => {
    expect(peopleOf(mail('x', '', `${field}\n`))).toEqual(['A U Thor', 'a@home.example', ...others]);
  });
});

describe('what is refused', () => {
  it.each([
    ['no subject', mail(''), 'no subject'],
    ['attachments', mail('x', '', 'Content-Type: multipart/mixed; boundary="b"\n'), 'attachments'],
    ['quoted-printable', mail('x', '', 'Content-Transfer-Encoding: quoted-printable\n'), 'quoted-printable'],
    ['another encoding', mail('x', '', 'Content-Type: text/plain; charset=ISO-8859-1\n'), 'UTF-8'],
    ['a subject in another encoding', mail('=?ISO-8859-1?q?=E4?='), 'UTF-8'],
    ['a header that is none', `${FROM}nothing\n\n${DIFF}`, 'header'],
    ['too many lines of a header', mail('x', '', 'A: b\n'.repeat(501)), 'header'],
    ['too many mails', mail('x').repeat(1_001), '1000 commits'],
    ['too many senders', mail('x', '', 'Reply-To: a@b, b@b\n'.repeat(30)), 'too many senders'],
    ['a sender without an end', mail('x', '', `Sender: ${'a '.repeat(2_001)}\n`), 'too many senders'],
    ['a header without an end', mail('x', '', `A: b\n${' b\n'.repeat(30_000)}`), '64 KB'],
    ['a subject without an end', mail(':'.repeat(70_000)), '64 KB'],
    ['fields of its body without an end', mail('x', `Subject: y\n${' y\n'.repeat(30_000)}`), '64 KB'],
    ['a line without an end', `${FROM}${WHO}Subject: x\n\n${'a'.repeat(1_100_000)}`, '1 MB'],
    ['a message without an end', mail('x', 'a\n'.repeat(600_000)), '1 MB'],
  ])('%s', (_, patch, words) => {
    expect(refusal(() => readMails(bytes(patch)))).toContain(words);
  });

  it('bytes that are no UTF-8', () => {
    expect(refusal(() => readMails(Buffer.from(mail('x', '\u00ff\n'), 'latin1')))).toContain('UTF-8');
  });

  it.each([
    ['a bundle', '# v2 git bundle\n', '/bundle'],
    ['another text', 'Hello there\n', 'neither'],
    ['changed line ends', mail('x').replaceAll('\n', '\r\n'), 'line ends'],
  ])('%s, at its beginning', (_, patch, words) => {
    expect(refusal(() => isPlainDiff(bytes(patch)))).toContain(words);
  });

  it.each([mail('x'), DIFF])('has lost its line ends: %j', (patch) => {
    const sent = patch.replaceAll('\n', '');
    expect(refusal(() => isPlainDiff(bytes(sent)))).toContain('--data-binary in place of -d');
  });

  it('is neither a diff nor a mail', () => {
    expect([DIFF, `\n${DIFF}`, mail('x'), WHO].map((patch) => isPlainDiff(bytes(patch)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
