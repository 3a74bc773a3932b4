/** Which lines of a comment tell the bot something, and who may say what. */
import { describe, expect, it } from 'vitest';
import { type MaintainerWord, maySay, wordsIn } from '../../src/events/maintainer-words.ts';
import type { Role } from '../../src/host/code-host.ts';

const said = (text: string) => wordsIn(text, [{ login: 'veil-bot' }, { login: 'veil-app[bot]' }]);

describe('a comment says', () => {
  it.each<[string, readonly MaintainerWord[]]>([
    ['@veil-bot stop', ['stop']],
    ['@veil-bot mute', ['mute']],
    ['@veil-app mute', ['mute']],
    ['@veil-bot welcome', ['welcome']],
    ['@veil-bot close all', ['close all']],
    ['@veil-bot stop.', ['stop']],
    ['@veil-bot\tclose  all!', ['close all']],
    ['No more of this.\r\n@Veil-Bot Stop  \r\nThanks', ['stop']],
    ['Please:\n\n@veil-bot stop\n@veil-bot close all', ['stop', 'close all']],
    ['@veil-bot stop\n\n@veil-bot stop', ['stop']],
    [`${'a line of a long comment\n'.repeat(2_600)}\n@veil-bot stop`, ['stop']],
  ])('%j', (text, words) => {
    expect(said(text)).toEqual(words);
  });
});

describe('a comment says nothing', () => {
  it.each([
    ['in a sentence', 'You could say @veil-bot stop here'],
    ['with more behind it', '@veil-bot stop please'],
    ['with a question mark', '@veil-bot stop?'],
    ['to another account', '@veil-bot2 stop'],
    ['without a mention', 'veil-bot stop'],
    ['that it knows', '@veil-bot halt'],
    ['in a quote', '> @veil-bot stop'],
    ['in the rest of a quote', '> Somebody wrote\n@veil-bot stop'],
    ['in a fenced block', '```\n@veil-bot stop\n```'],
    ['in a fenced block without an end', '~~~\n\n@veil-bot stop'],
    ['in an indented block', 'So:\n\n    @veil-bot stop'],
    ['in a code span', '`@veil-bot stop`'],
    ['in a code span of several lines', '`a\n@veil-bot stop\nb`'],
    ['in a list', '- @veil-bot stop'],
    ['in a heading', '# @veil-bot stop'],
    ['in bold letters that are a tag', '<b>\n@veil-bot stop\n</b>'],
    ['in an HTML comment', '<!--\n@veil-bot stop\n-->'],
    ['in an HTML comment within a paragraph', 'See <!--\n@veil-bot stop\n--> this'],
    ['in details', '<details><summary>Log</summary>\n\n@veil-bot stop\n\n</details>'],
    ['in a link', '[@veil-bot stop](https://host.test)'],
    ['behind what takes long to read', `${'['.repeat(9_000)}\n\n@veil-bot stop`],
    ['behind more than any host takes', `${'a\n'.repeat(70_000)}\n@veil-bot stop`],
  ])('%s', (_, text) => {
    expect(said(text)).toEqual([]);
  });
});

describe('a word', () => {
  it.each<[Role, boolean, readonly MaintainerWord[]]>([
    ['owner', false, ['stop', 'mute', 'welcome', 'close all']],
    ['maintainer', false, ['stop', 'mute']],
    ['maintainer', true, ['stop', 'mute', 'welcome', 'close all']],
    ['none', true, []],
  ])('may be said by the right people: %s, who has said stop: %s', (standing, hasStopped, words) => {
    const all: readonly MaintainerWord[] = ['stop', 'mute', 'welcome', 'close all'];
    expect(all.filter((word) => maySay(word, standing, hasStopped))).toEqual(words);
  });
});
