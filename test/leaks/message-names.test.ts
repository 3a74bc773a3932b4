/** Who is named in messages, told to the person alone. */
import { describe, expect, it } from 'vitest';
import { peopleNamedIn } from '../../src/leaks/messages.ts';

const HEAD = 'Your commit messages become public as they are. They name:';
const warning = (...messages: (string | Uint8Array)[]) =>
  peopleNamedIn(
    messages.map((message) => (typeof message === 'string' ? Buffer.from(message) : message)),
    'Signed-off-by: bot <bot@x.example>',
  ).lines;
const named = (...messages: (string | Uint8Array)[]) => warning(...messages).slice(1);

it.each([
  ['Reviewed-by: Ada <ada@example.org>\nReported-and-tested-by: Bob', true],
  ['Reviewed-by: Ada\nSigned-off-by: Ada', false],
  ['Co-authored-by: Ada', false],
  ['Reported-by: Ada\nSee ada@example.org', false],
])('tells whether all who are named in %j are surely others', (lines, areOthers) => {
  expect(peopleNamedIn([Buffer.from(`Fix\n\n${lines}\n`)], null)).toMatchObject({ areOthers });
});

describe('peopleNamedIn', () => {
  it('leaves out the line that the service has added, and nothing like it', () => {
    expect(named('Fix\n\nSigned-off-by: bot <bot@x.example>\n')).toEqual([]);
    expect(named('Fix\n\nSigned-off-by: bot <bo@x.example>\n')).toEqual([
      '  Signed-off-by: bot <bo@x.example>',
    ]);
  });

  it.each([
    ['Signed-off-by: Ada <ada@example.org>', 'Signed-off-by: Ada <ada@example.org>'],
    ['  Co-Authored-By: Eve', 'Co-Authored-By: Eve'],
    ['reported-by: #bob', 'reported-by: #bob'],
    ['Thanks to <bob.b+x@mail.example.org>, who saw it', 'bob.b+x@mail.example.org'],
    ['Cc: mailto:grüße@bücher.example.', 'grüße@bücher.example'],
    ['ssh://git@example.org/x', '//git@example.org'],
  ])('finds who is named in %j', (line, found) => {
    expect(warning(`Title\n\n${line}\n`)).toEqual([HEAD, `  ${found}`]);
  });

  it.each([
    '',
    'Plain words\n',
    'a@b',
    '@decorator in x.ts',
    'foo@',
    'Fix: by-pass',
    'by: nobody',
    '-by: x',
    'Stand-by:',
  ])('finds nobody in %j', (message) => {
    expect(warning(message)).toEqual([]);
  });

  it('tells each once, in the order of the text', () => {
    expect(named('b@x.org a@x.org', 'Acked-by: Z\n\na@x.org')).toEqual([
      '  b@x.org',
      '  a@x.org',
      '  Acked-by: Z',
    ]);
  });

  it('tells each of lines that follow each other', () => {
    expect(named('Acked-by: A\nAcked-by: B\nto b@x.org\nTested-by: c@x.org d@x.org\r\ne@x.org')).toEqual([
      '  Acked-by: A',
      '  Acked-by: B',
      '  b@x.org',
      '  Tested-by: c@x.org d@x.org',
      '  e@x.org',
    ]);
  });

  it('shows ten, and counts the others', () => {
    const lines = named(Array.from({ length: 25 }, (_, index) => `p${index}@x.org`).join(' '));
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe('  and 15 more');
  });

  it('shows what a terminal would obey, and is short', () => {
    const [line] = named(`Signed-off-by: \u001b[2J\u0007\u202eAda\u009b ${'x'.repeat(10_000)}`);
    expect(line).toMatch(/^ {2}Signed-off-by: \[U\+001B\]\[2J\[U\+0007\]\[U\+202E\]Ada\[U\+009B\] x+…$/);
    expect(line?.length).toBeLessThan(130);
  });

  it('reads other encodings as far as it goes', () => {
    expect(named(Buffer.from('Größe\n\nSigned-off-by: Zo\xeb <z@x.org>', 'latin1'))).toEqual([
      '  Signed-off-by: Zo\ufffd <z@x.org>',
    ]);
  });

  it('reads two megabytes of all messages together, and no more', () => {
    const most = 2 * 2 ** 20;
    const line = 'Acked-by: Z\n';
    const filler = ' '.repeat(most - 2 * line.length - 1);
    const told = ['  Acked-by: Z', '  Acked-by: Y'];
    expect(named(line, `${filler}\n`, line.replace('Z', 'Y'))).toEqual(told);
    expect(named(line, `${filler}\n`, line.replace('Z', 'Y'), line.replace('Z', 'X'))).toEqual([
      ...told,
      expect.stringMatching(/^Not searched further for people in messages: there is too much to look at\./),
    ]);
  });
});
