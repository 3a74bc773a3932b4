/** Texts that are searched for, by how they may stand in a text. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdentityCollector } from '../../../src/git/search/identity-collector.ts';
import { identityTexts } from '../../../src/git/search/identity-texts.ts';
import { MAX_TEXT_BYTES, placesOf, TextSearch } from '../../../src/git/search/text-search.ts';
import { commitContent, tagContent } from '../../support/objects.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

function identity(name: string, email = 'x@y.example', encoding: string | null = null) {
  return { name: Buffer.from(name), email: Buffer.from(email), encoding };
}

type Who = ReturnType<typeof identity>;

/** How surely a text holds the identity. */
function found(text: string | Uint8Array, who: Who, nobodys: string[] = []): 'surely' | 'perhaps' | 'not' {
  const { texts } = identityTexts([who], new Set(nobodys));
  const spans = [...new TextSearch(texts).spans(Buffer.from(text))];
  if (spans.length === 0) return 'not';
  return spans.some((span) => !texts[span.text]?.isMinor) ? 'surely' : 'perhaps';
}

const isIn = (text: string | Uint8Array, who: Who, nobodys: string[] = []): boolean =>
  found(text, who, nobodys) !== 'not';

describe('a name', () => {
  it.each([
    'by Ada Lovelace.',
    'ADA LOVELACE',
    'ada.lovelace@elsewhere.example',
    '/home/ada_lovelace/src',
    'Ada-Lovelace',
    '(Ada\tLovelace)',
    'LOVELACE, Ada (1815-1852)',
    '“Ada Lovelace”',
    'Ada Lovelace’s notes',
    '©Ada Lovelace',
    'by Ada Lovelace—and others',
    '作者Ada Lovelace编写',
    Buffer.from('«Ada Lovelace»', 'latin1'),
  ])('is surely in %j', (text) => {
    expect(found(text, identity('Ada Lovelace'))).toBe('surely');
  });

  it.each([
    'Lovelace Ada',
    'adalovelace',
    'AdaLovelace',
    'LovelaceAda',
    'Ada\u00a0Lovelace',
    'Ada/Lovelace',
    'ada,lovelace',
    'ada:lovelace',
    'Ada|Lovelace',
    'ada~lovelace',
    'Ada・Lovelace',
    'Ada\u3000Lovelace',
    'Ada\nLovelace',
    'lovelace_ada',
    'Ada👩Lovelace',
    'Ada1Lovelace',
    Buffer.from('Ada\u00a0Lovelace', 'latin1'),
  ])('is perhaps in %j', (text) => {
    expect(found(text, identity('Ada Lovelace'))).toBe('perhaps');
  });

  it.each([
    'Ada',
    'Lovelace',
    'Ada  B. Lovelace',
    'Canada Lovelace',
    'Ada Lovelaces',
    'Ada Lovelaceé',
    'Ada Lovelace\u0301',
    'Adalovelacex',
    'Ada and Lovelace',
    'AdaéLovelace',
    'Ada--Lovelace',
  ])('is not found in %j', (text) => {
    expect(found(text, identity('Ada Lovelace'))).toBe('not');
  });

  it.each([
    ['山田 太郎', ['山田太郎', '山田・太郎', '太郎 山田', '太郎山田', '山田\u3000太郎']],
    ['山田太郎', ['山田 太郎', '太郎山田', '太郎・山田']],
    ['김 철수', ['김철수', '철수 김']],
    [
      'Ada King Lovelace',
      ['AdaKingLovelace', 'Lovelace Ada King', 'King Lovelace, Ada', 'ada/king lovelace'],
    ],
    ['Zoë Müller', ['Zoe Muller', 'muller, zoe', 'ZoeMuller', 'zoëmüller']],
    ['Müller', ['Muller']],
    ['Anne-Marie Lee', ['AnneMarieLee', 'Lee Anne Marie']],
    ['Lovelace, Ada', ['LovelaceAda', 'ada lovelace.']],
  ])('%s is found in its other forms', (name, texts) => {
    for (const text of texts) expect(isIn(text, identity(name, '-')), text).toBe(true);
  });

  it.each(['Jo Lee', 'An Lee'])(
    'of few letters is found with something between its words only: %s',
    (name) => {
      const [a = '', b = ''] = name.split(' ');
      expect(found(`${a}${b}`, identity(name, '-'))).toBe('not');
      expect(found(`${b}/${a}`, identity(name, '-'))).toBe('perhaps');
    },
  );

  it(
    'of any words is found in either order, whatever single character stands between them, wherever that is',
    exhaustive,
    () => {
      const word = fc.stringMatching(/^[a-zà-öø-ÿа-яα-ω]{3,12}$/);
      const gap = fc.constantFrom(...Array.from(' \t\n.,;:/|~_-+*&#@!?()[]{}<>1\u00a0\u2009\u3000・·—「'));
      const around = fc.constantFrom('', ' ', '\n', '"', '(', '/', '。', '«');
      fc.assert(
        fc.property(
          word,
          word,
          fc.option(gap),
          fc.boolean(),
          around,
          around,
          (one, other, between, turned, a, b) => {
            const words = turned ? [other, one] : [one, other];
            expect(isIn(`x ${a}${words.join(between ?? '')}${b}`, identity(`${one} ${other}`, '-'))).toBe(
              true,
            );
          },
        ),
        runs(170),
      );
    },
  );

  it('is found as it is spoken if its header has the last one first', () => {
    for (const text of ['Ada Lovelace', 'Lovelace, Ada'])
      expect(isIn(text, identity('Lovelace, Ada'))).toBe(true);
  });

  it('is found with another sign in place of a hyphen', () => {
    for (const text of ['Anne Marie Lee', 'anne_marie_lee'])
      expect(isIn(text, identity('Anne-Marie Lee'))).toBe(true);
  });

  it.each([
    ['Ada Lovelace', false],
    ['Lovelace,Ada', false],
    ['ada.lovelace', false],
    ['ada_lovelace', false],
    ['山田太郎', false],
    ['Lovelace', true],
    ['contributor', true],
    ['developer', true],
    ['Anne-Marie', true],
    ['_contributor_', true],
    ['Müller', true],
  ])('is minor if it has one word: %s, %s', (name, isMinor) => {
    const { texts } = identityTexts([identity(name, 'nothing')], new Set());
    expect(texts.every((text) => text.isMinor === true)).toBe(isMinor);
  });

  it('of one word is found if the word is long, and no part of another', () => {
    const who = identity('Augusta');
    for (const text of ['by Augusta.', 'AUGUSTA', '/home/augusta/x', 'augusta@elsewhere.example'])
      expect(isIn(text, who)).toBe(true);
    for (const text of ['augustan', 'Xaugusta', 'August']) expect(isIn(text, who)).toBe(false);
    expect(isIn('作者山田太です', identity('山田太'))).toBe(true);
    expect(isIn('by A Lovelace', identity('A Lovelace'))).toBe(true);
  });

  it.each(['Ada', 'A B', 'a-b c', '', '  ', '山田', '123456', 'GitHub', 'dependabot[bot]'])(
    'of too little to tell is not searched for: %j',
    (name) => {
      expect(identityTexts([identity(name, 'nothing')], new Set()).texts).toEqual([]);
    },
  );

  it('of letters outside ASCII is found in either case, composed and decomposed', () => {
    const who = identity('Zoë Müller');
    expect(isIn('ZOË MÜLLER', who)).toBe(true);
    expect(isIn('Zoë Müller'.normalize('NFD'), who)).toBe(true);
    expect(isIn('MÜLLER, ZOË'.normalize('NFD'), who)).toBe(true);
    expect(isIn('Иван Петров', identity('ИВАН ПЕТРОВ'))).toBe(true);
    expect(isIn('山田 太郎 です', identity('山田 太郎'))).toBe(true);
    expect(isIn('김 철수', identity('김 철수'))).toBe(true);
  });

  it('is found in Latin-1 and Windows-1252, in either case', () => {
    for (const text of ['von Zoë Müller', 'ZOË MÜLLER', 'müller, zoë'])
      expect(isIn(Buffer.from(text, 'latin1'), identity('Zoë Müller')), text).toBe(true);
    expect(isIn(Buffer.from('von Müller.', 'latin1'), identity('Müller'))).toBe(true);
    // The letters that Latin-1 has not: š, and the apostrophe that typewriters have not.
    expect(isIn(Buffer.from('Petra Bene\x9a', 'latin1'), identity('Petra Beneš'))).toBe(true);
    expect(isIn(Buffer.from('PETRA BENE\x8a', 'latin1'), identity('Petra Beneš'))).toBe(true);
    expect(isIn(Buffer.from('Jo O\x92Hara', 'latin1'), identity('Jo O’Hara'))).toBe(true);
  });

  it('is found in the encoding of its commit and in UTF-8', () => {
    const who = {
      name: Buffer.from('Jürgen Weiß', 'latin1'),
      email: Buffer.from('-'),
      encoding: 'ISO-8859-1',
    };
    expect(isIn(Buffer.from('von Jürgen Weiß', 'latin1'), who)).toBe(true);
    expect(isIn('von Jürgen Weiß', who)).toBe(true);
    // A commit that does not say which encoding it has.
    expect(isIn(Buffer.from('von Jürgen Weiß', 'latin1'), { ...who, encoding: null })).toBe(true);
  });
});

describe('an address', () => {
  const who = identity('-', 'ada@example.org');

  it.each(['<ada@example.org>', 'mailto:Ada@Example.org?x', 'ada@example.org.', 'to ada@example.org'])(
    'is found in %j',
    (text) => {
      expect(isIn(text, who)).toBe(true);
    },
  );

  it.each([
    'canada@example.org',
    'x.ada@example.org',
    'ada@example.organic',
    'ada@example.or',
    'ada example.org',
  ])('is not found in %j', (text) => {
    expect(isIn(text, who)).toBe(false);
  });
});

const marked = (text: string, order: 'little' | 'big'): Buffer => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return order === 'big' ? bytes.swap16() : bytes;
};
const hash = (algorithm: string) => createHash(algorithm).update('ada@home.example').digest('hex');

describe('what is surely somebody’s', () => {
  const who = identity('Ada Lovelace', 'ada@home.example');

  it.each([
    '?email=ada%40home.example&x',
    '<a href="mailto:ada&#64;home.example">',
    'ADA&#x40;home.example',
    '"mail": "ada\\u0040home.example"',
    'ada=40home.example',
    '?author=Ada%20Lovelace',
    'Ada&nbsp;Lovelace',
    'https://www.gravatar.com/avatar/MD5?s=80',
    'https://seccdn.libravatar.org/avatar/SHA256',
  ])('is found in another spelling: %s', (text) => {
    const plain = text.replace('MD5', hash('md5')).replace('SHA256', hash('sha256').toUpperCase());
    expect(found(plain, who)).toBe('surely');
  });

  it.each(['ada@home.example', 'by Ada Lovelace\r\n', 'mail ADA@home.example.'])(
    'is found in UTF-16, in either order of bytes, but no part of a longer word: %j',
    (text) => {
      for (const order of ['little', 'big'] as const) {
        expect(found(marked(`${text}\n`, order), who), order).toBe('surely');
        expect(
          found(marked(`Can${text}\n`, order).subarray(2), identity('Da Lovelac', 'da@home.exampl')),
        ).toBe('not');
      }
    },
  );

  it('is found in UTF-16 in letters that need both bytes', () => {
    for (const order of ['little', 'big'] as const)
      expect(found(marked('von ИВАН Петров.\n', order), identity('Иван Петров')), order).toBe('surely');
    expect(found('Zo%C3%AB%20M%c3%bcller', identity('Zoë Müller'))).toBe('surely');
  });

  it.each(['ada%home.example', 'ada=home.example', 'Ada=Lovelace', 'Ada&Lovelace'])(
    'is not surely in %j',
    (text) => {
      expect(found(text, who)).not.toBe('surely');
    },
  );
});

describe('the login in an address of the host', () => {
  it.each([
    '123+ada-lovelace@users.noreply.github.com',
    'Ada-Lovelace@users.noreply.github.com',
    '123-ada-lovelace@users.noreply.gitlab.com',
    'ada-lovelace@noreply.codeberg.org',
  ])('is found: %s', (email) => {
    const who = identity('-', email);
    for (const text of ['ask @ada-lovelace', 'git.example/Ada-Lovelace/x'])
      expect(isIn(text, who)).toBe(true);
    expect(isIn('ask @ada-lovelaces', who)).toBe(false);
  });

  it('is minor, unless it is a form of the name', () => {
    for (const [name, sure] of [['-', 'perhaps'] as const, ['Ada Lovelace', 'surely'] as const]) {
      const who = identity(name, '1+ada-lovelace@users.noreply.github.com');
      expect(found('by ada-lovelace', who)).toBe(sure);
    }
  });

  it('is not searched for if it is short, or if somebody has chosen the address', () => {
    expect(isIn('by ada99', identity('-', '1+ada99@users.noreply.github.com'))).toBe(false);
    expect(isIn('by lovelace', identity('-', 'lovelace@example.org'))).toBe(false);
  });
});

it('leaves half of the room to the ids of commits', () => {
  const many = Array.from({ length: 300 }, (_, at) =>
    identity(`Person Number${at}`, `person${at}@example.org`),
  );
  for (const count of [1, 5, 300]) {
    const { texts } = identityTexts(many.slice(0, count), new Set());
    expect(texts.reduce((sum, text) => sum + placesOf(text), 0)).toBeLessThanOrEqual(MAX_TEXT_BYTES / 2);
  }
});

it('tells for whom it searches, and for whom not, with the reason', () => {
  const people = [
    identity('Ada Lovelace', '7+lovelace@users.noreply.github.com'),
    identity('Max', 'max'),
    identity('A B', ''),
    identity('x '.repeat(60), 'bot@x.example'),
    identity('GitHub', 'noreply@github.com'),
  ];
  const { terms, skipped } = identityTexts(people, new Set(['bot@x.example']));
  expect([...terms]).toEqual(['7+lovelace@users.noreply.github.com', 'lovelace', 'Ada Lovelace']);
  expect(Array.from(skipped, ([term, reason]) => `${term.slice(0, 20)}: ${reason}`)).toEqual([
    'max: no address',
    'Max: one short word',
    'A B: too short',
    'x x x x x x x x x x : too long',
    'noreply@github.com: no particular person',
    'GitHub: no particular person',
  ]);
});

describe('what is nobody’s', () => {
  it('is not searched for', () => {
    expect(isIn('by The Bot', identity('The Bot', 'bot@x.example'), ['the bot', 'bot@x.example'])).toBe(
      false,
    );
    expect(isIn('noreply@github.com', identity('GitHub', 'noreply@github.com'))).toBe(false);
    expect(isIn('test_user = your-name', identity('Test User', 'test@example.com'))).toBe(false);
  });
});

it('says when there are more than can be searched for', () => {
  const many = Array.from({ length: 300 }, (_, at) =>
    identity(`Person Number${at}`, `person${at}@example.org`),
  );
  expect(identityTexts(many, new Set()).isComplete).toBe(false);
  expect(identityTexts(many.slice(0, 15), new Set()).isComplete).toBe(true);
});

describe('IdentityCollector', () => {
  it('reads authors, committers and taggers, each once', () => {
    const collector = new IdentityCollector();
    for (let time = 0; time < 2; time++) {
      collector.add(commitContent({ message: 'author Not Me <not@me.example> 1 +0000\n' }), null);
      collector.add(tagContent('0'.repeat(40)), null);
    }
    const names = collector.identities.map(({ name, email }) => `${Buffer.from(name)} ${Buffer.from(email)}`);
    expect(names).toEqual(['Ada Lovelace ada@example.org', 'Charles Babbage charles@example.org']);
  });

  it('gathers no more than anybody can search for, and says so', () => {
    const collector = new IdentityCollector();
    for (let at = 0; at < 5_000; at++)
      collector.add(commitContent({ author: `${at} <${'x'.repeat(900)}> 1` }), null);
    expect(collector.identities.length).toBeLessThan(1_000);
    expect(collector.isComplete).toBe(false);
  });

  it('takes whatever stands in those lines', () => {
    const collector = new IdentityCollector();
    for (const author of [
      'no brackets 1 +0000',
      '<> 1 +0000',
      `${'x'.repeat(5_000)} <a@b> 1 +0000`,
      'a <b <c> 1',
    ]) {
      collector.add(commitContent({ author }), null);
    }
    expect(collector.identities.length).toBeLessThan(5);
  });
});
