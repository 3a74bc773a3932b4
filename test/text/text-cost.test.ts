/**
 * The most that reading and showing a stranger's text costs: in proportion to it, whatever it is
 * full of. A body has 65,536 characters; what may be longer is read twice as far.
 */
import { describe, expect, it } from 'vitest';
import { newAddresses } from '../../src/edit/addresses.ts';
import { difference } from '../../src/edit/lines.ts';
import { parseFormFields } from '../../src/routes/request/form-fields.ts';
import { hostLines, hostText, oneLine } from '../../src/words/host-text.ts';
import { haveOwnSignOff, signerOf } from '../../src/git/objects/sign-offs.ts';
import { pullRequestText } from '../../src/git/objects/commit-message.ts';
import { privateMerges } from '../../src/leaks/merge-sentences.ts';
import { peopleNamedIn } from '../../src/leaks/messages.ts';
import { uploadLines } from '../../src/leaks/uploads.ts';
import { vouchedStanding } from '../../src/policy/community-files.ts';
import { parsePolicy } from '../../src/policy/policy.ts';
import { footerProblem } from '../../src/text/footer-room.ts';
import { readMarkdown, renderedMarkdown } from '../../src/text/markdown.ts';
import { noiseIn, noiseInMessage } from '../../src/text/noise.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { HOSTILE_MESSAGES } from '../support/hostile-messages.ts';
import { newCommitOf } from '../support/new-commits.ts';
import { commitContent } from '../support/objects.ts';
import { workOf } from '../support/work-meter.ts';
import { PIECES } from './support/hostile-bodies.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const WHERE = { hostUrl: 'https://git.test', repository: REPOSITORY };
const BOT = { name: 'bot', email: 'bot@x.example' };
/** For each character of a text, and besides. What is quadratic needs hundreds for each. */
const MOST = { characters: 150, looks: 12, bytes: 8 };
const FREE = { characters: 60_000, looks: 30_000, bytes: 100_000 };

const utf8 = (text: string): Buffer => Buffer.from(text);
const isUpstreams = privateMerges({ refs: [], repository: REPOSITORY, urls: [] });

/**
 * Readers of Markdown and YAML, whose libraries look from each bracket to the end of a paragraph.
 * The length of a body, and that of a policy, bound that, so characters do not count here.
 */
const READERS_OF_MARKUP: Readonly<Record<string, (text: string) => unknown>> = {
  'for a footer and for noise': (text) => {
    const read = readMarkdown(text);
    return [footerProblem(read), noiseIn(read, WHERE)];
  },
  'as a policy': (text) => parsePolicy(utf8(text)),
  'for a page': (text) => renderedMarkdown(text),
};

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'as a form': (text) => parseFormFields(text),
  'as words of a host': (text) => [hostText(text), hostLines(text), oneLine(text)],
  'for addresses': (text) => newAddresses('', text),
  'for uploads': (text) => uploadLines(text),
  'as a file that has changed': (text) => difference(text.slice(0, text.length / 2), text),
  'as a list of accounts': (text) => vouchedStanding(text, 'bot', 'github'),
};

/** Readers of messages. The searches of them are proved in test/leaks/search-cost.test.ts. */
const READERS_OF_MESSAGES: Readonly<Record<string, (text: string) => unknown>> = {
  'for people': (text) => peopleNamedIn([utf8(text)], null),
  'for noise': (text) => noiseInMessage(text, WHERE),
  'for branches of its author': (text) => [...isUpstreams(text)],
  'as a title and a description': (text) => pullRequestText({ message: utf8(text), encoding: null }),
  'to be signed off': (text) => signerOf(BOT)({ content: commitContent({ message: text }) }, utf8(text)),
  'for sign-offs of its author': (text) => haveOwnSignOff([newCommitOf(commitContent({ message: text }))]),
};

async function expectLinear(text: string, read: (text: string) => unknown, isMarkup = false) {
  const { characters, looks, bytes } = await workOf(() => read(text));
  const most = (kind: keyof typeof MOST): number => FREE[kind] + MOST[kind] * text.length;
  if (!isMarkup) expect(characters, 'characters').toBeLessThan(most('characters'));
  expect(looks, 'looks').toBeLessThan(most('looks'));
  expect(bytes, 'bytes').toBeLessThan(most('bytes'));
}

const full = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

function describeTextsOf(length: number): void {
  describe.each(Object.entries(READERS_OF_MARKUP))('is read once %s', (_, read) => {
    it.each(PIECES)('if it is full of %j', (piece) => expectLinear(full(piece, length), read, true));
  });

  describe.each(Object.entries(READERS))('is read once %s', (_, read) => {
    it.each(PIECES)('if it is full of %j', (piece) => expectLinear(full(piece, length), read));
  });
}

function describeMessagesOf(length: number): void {
  describe.each(Object.entries(READERS_OF_MESSAGES))('is read once %s', (_, read) => {
    it.each(PIECES)('if it is full of %j', (piece) => expectLinear(full(piece, length), read));
    it.each(Object.entries(HOSTILE_MESSAGES))('if it is full of %s', (__, make) =>
      expectLinear(make(length), read),
    );
  });
}

describe('a text of 1,000 characters', () => describeTextsOf(1_000));
describe('a text of 10,000 characters', exhaustive, () => describeTextsOf(10_000));
describe('a text of as many characters as a body may have', exhaustive, () => describeTextsOf(65_536));

describe('a message of 1,000 bytes', () => describeMessagesOf(1_000));
describe('a message of 10,000 bytes', () => describeMessagesOf(10_000));
describe('a message of 100,000 bytes', exhaustive, () => describeMessagesOf(100_000));
describe('a message of a megabyte', exhaustive, () => describeMessagesOf(1_000_000));
