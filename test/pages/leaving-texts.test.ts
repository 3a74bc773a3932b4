/**
 * Texts of a delayed push that an operator reads: messages of any size, of which only what is shown
 * is decoded.
 */
import { expect, it } from 'vitest';
import { PlannedCommits } from '../../src/git/objects/planned-commits.ts';
import { textsLeaving } from '../../src/pages/leaving-texts.ts';
import type { KeptPush } from '../../src/push/delay/kept-push.ts';
import { oidNumber } from '../support/objects.ts';
import { workOf } from '../support/work-meter.ts';

const LIMITS = { mostMessages: 5, longest: 10 };

function leaving(message: Uint8Array, encoding: string | null = null) {
  const commits = new PlannedCommits();
  commits.push({ tree: oidNumber(1), parents: [], encoding, message: { bytes: message, mentions: [] } });
  const work = {
    base: { name: 'refs/heads/main', oid: oidNumber(2) },
    prHash: null,
    commits,
    isDraft: false,
    title: { bytes: Buffer.from('A title'), mentions: [] },
    description: { bytes: Buffer.from('\u4e00'.repeat(12)), mentions: [] },
    stated: { ai: null, issue: null },
  };
  const kept = { target: { owner: 'octo', name: 'hello' }, work } as unknown as KeptPush;
  return () => textsLeaving(kept, LIMITS);
}

it('shows the beginning, and says how many bytes are missing', () => {
  const { title, description, messages } = leaving(Buffer.from('\u4e00'.repeat(11)))();
  expect(title).toEqual({ text: 'A title', missing: 0 });
  expect(description).toEqual({ text: '\u4e00'.repeat(10), missing: 6 });
  expect(messages).toEqual([{ text: '\u4e00'.repeat(10), missing: 3, encoding: null, encoded: null }]);
  expect(leaving(Buffer.from('Short'))().messages).toMatchObject([{ text: 'Short', missing: 0 }]);
});

it('shows the text in its own encoding, too', () => {
  const [message] = leaving(Buffer.from('Voil\xe0', 'latin1'), 'ISO-8859-1')().messages;
  expect(message).toEqual({
    text: 'Voil\udce0',
    missing: 0,
    encoding: 'ISO-8859-1',
    encoded: { text: 'Voil\u00e0', missing: 0 },
  });
});

it.each([
  ['in UTF-8', Buffer.alloc(4_000_000, '\u4e00')],
  ['in nothing', Buffer.alloc(4_000_000, 0xff)],
])('decodes no more of a message of megabytes than it shows: %s', async (_, message) => {
  const texts = leaving(message);
  const { bytes } = await workOf(() => expect(texts().messages[0]?.text).toHaveLength(10));
  // A title and a description are read of as much as a pull request may have.
  expect(bytes).toBeLessThan(300_000);
});
