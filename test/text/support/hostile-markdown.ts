/**
 * Markdown that tries to hide or to forge the footer: pieces that mean something to a renderer, in
 * any order.
 */
import * as fc from 'fast-check';

const MARKS = ['> ', '>', '- ', '* ', '1. ', '2. ', '-', '  ', '   ', '    ', '\t', '# ', '[a]: ', '[^a]: '];
const CODE = ['```', '````', '~~~', '```js', '`', '`', '``'];
const WORDS = String.raw`
  word word \ $ --- === *** |-| -|- :-: &lt; ’ [a] [a]( [ ] ]( ) ![ ( ][b] <https://x.test> "x")
  <!-- --> <!--> -- --!> <? ?> <!X <![CDATA[ ]]> > <
  <details> </details> <summary> </summary> <b> </b> <br> <table> </table> <td> <tr><td> </td> <pre> </pre>
  <div> </div> <div <p> </p> <u8> </u8> " ' "> '> <search> <source <script> <svg>
`;
const SPACED = 'a b,  ,| , | ,<details open>,<b >,<img src=x>,<a href=",<a title=\',<b c=d>,<details\u00a0x>';
const PIECES = [...CODE, ...WORDS.trim().split(/\s+/), ...SPACED.split(',')];
const FOOTERS = [
  'anon-0badf00d · karma (9) · [report](https://evil.test/)',
  '**anon-0badf00d** · karma (9) · [report](https://evil.test/)',
  'anon-0badf00d &middot; karma (9) · [report](x)',
  '<p>anon-0badf00d · karma (9) · report</p>',
  '<td>anon-0badf00d ·</td>\n\n<td>karma (9) ·</td>\n\n<td>report</td>',
];

const line = fc
  .tuple(
    fc.array(fc.constantFrom(...MARKS), { maxLength: 2 }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }),
    fc.option(fc.constantFrom(...FOOTERS), { freq: 30, nil: '' }),
  )
  .map(([marks, pieces, footer]) => [...marks, ...pieces, footer].join(''));

export const hostileMarkdown = fc
  .tuple(
    fc.array(fc.oneof({ weight: 4, arbitrary: line }, fc.constant('')), { minLength: 1, maxLength: 12 }),
    fc.constantFrom('\n', '\n', '\r\n', '\r'),
  )
  .map(([lines, lineBreak]) => lines.join(lineBreak));
