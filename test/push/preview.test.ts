/**
 * The lines of a preview: all that would become public, or how much of it is not shown, and where
 * it stands.
 */
import { describe, expect, it } from 'vitest';
import { AnonymousCommits } from '../../src/git/objects/anonymize.ts';
import { previewed } from '../../src/push/preview.ts';
import type { Publishable } from '../../src/push/verdict.ts';
import { commitContent, EMPTY_TREE } from '../support/objects.ts';
import { newCommitOf } from '../support/new-commits.ts';
import { planned } from '../support/planned.ts';

const BOT = { name: 'bot', email: 'bot@x.example' };

/** The lines of a preview of commits with these messages. */
function preview(messages: readonly string[]): readonly string[] {
  const pushed = messages.map((message) => {
    const content = commitContent({ tree: EMPTY_TREE, message });
    return newCommitOf(content);
  });
  const { commits } = planned(pushed);
  const push = {
    repository: { owner: 'octo', name: 'hello' },
    base: { name: 'refs/heads/main', oid: '1'.repeat(40) },
    named: null,
    title: null,
    description: null,
    isDraft: false,
    footer: '',
    entryCount: 3,
    commits,
  } as unknown as Publishable;
  const anonymous = new AnonymousCommits(commits, BOT, () => 0);
  const shown = {
    author: 'bot',
    remarks: [],
    refusal: null,
    yes: [],
    findings: [],
    updated: null,
    dateOf: () => 0,
    bytes: 7,
  };
  return previewed(push, anonymous, shown).lines;
}

describe('a preview', () => {
  it('shows every line of every message and of the description', () => {
    const body = Array.from({ length: 60 }, (_, at) => `line ${at}`);
    const messages = Array.from({ length: 70 }, (_, at) => `title ${at}\n\nbody ${at}\n`);
    const lines = preview([...messages, `newest\n\n${body.join('\r\n')}\n`]);
    for (const line of body) expect(lines).toContain(`    ${line}`);
    for (let at = 0; at < 70; at++) {
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(` title ${at}$`)));
      expect(lines).toContain(`    body ${at}`);
    }
    expect(lines.join('\n')).not.toMatch(/and \d+ more/);
  });

  it('shows a message that is the description once', () => {
    const lines = preview(['only\n\nonce\n']);
    expect(lines.filter((line) => line === '    once')).toHaveLength(1);
    expect(lines).toContain('    (the description above)');
  });

  it('says how many messages of which size it does not show, and how to read them and the files', () => {
    const lines = preview(['first\n', `large\n\n${'x'.repeat(200_000)}\n`, 'last\n\nby and by\n']);
    expect(lines).toContain('  1 message, 200008 bytes, not shown: git log -p HEAD --not --remotes');
    expect(lines).toContain('    by and by');
    expect(lines).toContain(
      '6 objects, 7 bytes, would be sent. Files are not shown: git log -p HEAD --not --remotes',
    );
  });
});
