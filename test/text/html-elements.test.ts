/** The tags of a piece of HTML, and which elements they leave open. */
import { describe, expect, it } from 'vitest';
import { isElement, OpenElements, partsOf } from '../../src/text/html-elements.ts';

/** Each part in a word: `<name>`, `</name>`, its text, or `unfinished`. */
const read = (html: string): string[] =>
  Array.from(partsOf(html), (part) => {
    if (part.kind === 'tag') return `<${part.isClosing ? '/' : ''}${part.name}>`;
    return part.kind === 'text' ? part.text : 'unfinished';
  }).filter((word) => word !== '');

describe('the parts of', () => {
  it.each([
    ['a text', 'a < b && c <3', ['a < b && c <3']],
    ['an element', 'a<B>b</B >c', ['a', '<b>', 'b', '</b>', 'c']],
    ['attributes', '<a href="x>y" title=\'>\' open>z', ['<a>', 'z']],
    ['generics', 'Vec<u8>', ['Vec', '<u8>']],
    ['a comment', 'a<!-- <b> -->c<!--->d<!-- e --!>f', ['a', 'c', 'd', 'f']],
    ['an open comment', 'a<!-- <b>', ['a', 'unfinished', '<!-- <b>']],
    ['an open tag', '<b title="', ['unfinished', '<b title="']],
    ['a tag in a tag', '<b <i>', ['unfinished', '<b <i>']],
    ['an instruction', '<?php ?>', ['unfinished', '<?php ?>']],
  ])('%s', (_, html, parts) => {
    expect(read(html)).toEqual(parts);
  });
});

it.each([
  ['<b>', true],
  ['</li>', true],
  ['<script>', true],
  ['<br>', false],
  ['<p>', false],
  ['<u8>', false],
])('%s must be closed, or may not be there: %s', (html, expected) => {
  expect(Array.from(partsOf(html)).some(isElement)).toBe(expected);
});

describe('elements', () => {
  it.each([
    ['<b><i></i></b>', null],
    ['<ul><li>a<li>b</ul>', null],
    ['</b>', null],
    ['<b>', 'the HTML tag <b> is never closed; close it, or write it in backticks'],
    [
      '<b><i></b>',
      'the HTML tag <i> is not closed before the one around it; close it, or write it in backticks',
    ],
    ['<p title="a dir=b" data-dir=c>', null],
    ['<br/dir="">', 'the HTML attribute dir cannot be used here; write the tag in backticks'],
    ['<svg>', 'the HTML tag <svg> cannot be used here; write it in backticks'],
  ])('%s: %s', (html, problem) => {
    const open = new OpenElements();
    const problems = Array.from(partsOf(html), (part) => (part.kind === 'tag' ? open.add(part) : null));
    expect(problems.find((found) => found !== null) ?? open.end()).toBe(problem);
  });
});
