/** Mails as `git format-patch` writes them, and those that would become something else. */
import { describe, expect, it } from 'vitest';
import { isPlainDiff, readMails } from '../../src/patch/mails.ts';
import { PatchError } from '../../src/patch/patch-error.ts';

const FROM = `From ${'a'.repeat(40)} Mon Sep 17 00:00:00 2001\n`;
const WHO = 'From: A U Thor <a@home.example>\nDate: Thu, 1 Jan 2026 00:00:00 +0845\n';
const DIFF = 'diff --git a/x b/x\n';
const mail = (subject: string, body = '', header = '') =>
  `${FROM}${WHO}Subject: ${subject}\n${header}\n${body}---\n x | 1 +\n\n${DIFF}`;

const bytes = (text: string): string => Buffer.from(text).toString('latin1');
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
    ['a line that looks like a boundary', mail('x', '--boundary\n--- a\n'), 'x\n\n--boundary\n'],
    ['what begins like a mail', mail('x', 'From here on\n'), 'x\n\nFrom here on\n'],
  ])('has %s', (_, patch, message) => {
    expect(messagesOf(patch)).toEqual([message]);
  });

  it('is one for each mail, with the author of each', () => {
    const mails = readMails(mail('One') + mail('Two', 'From: B <b@home.example>\n\n'));
    expect(mails.map(({ message, author }) => [message, author])).toEqual([
      ['One\n', { name: 'A U Thor', email: 'a@home.example' }],
      ['Two\n', { name: 'B', email: 'b@home.example' }],
    ]);
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
    ['a message without an end', mail('x', 'a\n'.repeat(600_000)), '1 MB'],
  ])('%s', (_, patch, words) => {
    expect(refusal(() => readMails(bytes(patch)))).toContain(words);
  });

  it('bytes that are no UTF-8', () => {
    expect(refusal(() => readMails(mail('x', '\u00ff\n')))).toContain('UTF-8');
  });

  it.each([
    ['a bundle', '# v2 git bundle\n', '/bundle'],
    ['another text', 'Hello there\n', 'neither'],
    ['changed line ends', mail('x').replaceAll('\n', '\r\n'), 'line ends'],
  ])('%s, at its beginning', (_, patch, words) => {
    expect(refusal(() => isPlainDiff(patch))).toContain(words);
  });

  it('is neither a diff nor a mail', () => {
    expect([isPlainDiff(DIFF), isPlainDiff(`\n${DIFF}`), isPlainDiff(mail('x')), isPlainDiff(WHO)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
