/** The parts of forms: their tokens, their fields, and the threads that people name. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFormFields } from '../../../src/routes/request/form-fields.ts';
import { FORM_LIFE_MS, newFormToken, readFormToken } from '../../../src/secret/form-token.ts';
import { parseThreadText } from '../../../src/routes/request/form-fields.ts';
import { runs } from '../../support/runs.ts';

const SECRET = 'a secret of more than thirty-two characters';
const PATH = '/v1/gh/octo/hello/change';
const NOW = Date.UTC(2026, 10, 22);

describe('a token', () => {
  const token = newFormToken(SECRET, PATH, NOW, new Uint8Array(8).fill(7));
  const read = (text: string, more: { path?: string; now?: number; secret?: string } = {}) =>
    readFormToken(more.secret ?? SECRET, more.path ?? PATH, text, more.now ?? NOW);

  it('is valid for a day, for its path, and with the secret that made it', () => {
    expect(read(token)).toEqual({ text: token, madeAt: NOW });
    expect(read(token, { now: NOW + FORM_LIFE_MS })).toEqual({ text: token, madeAt: NOW });
    expect(read(token, { now: NOW + FORM_LIFE_MS + 1 })).toBe('expired');
    expect(read(token, { now: NOW - 1 })).toBe('expired');
    expect(read(token, { path: '/v1/gh/octo/other/change' })).toBeNull();
    expect(read(token, { secret: `${SECRET}!` })).toBeNull();
  });

  it('cannot be changed', () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom('0', 'f', 'z', '-', ''), (at, character) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (changed !== token) expect(read(changed)).toBeNull();
      }),
      runs(100),
    );
  });

  it('of two forms is never the same', () => {
    expect(newFormToken(SECRET, PATH, NOW, new Uint8Array(8))).not.toBe(token);
  });
});

describe('the fields of a form', () => {
  it('come out as a browser put them in', () => {
    const names = fc.string({ minLength: 1 }).map((name) => `n${name}`);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(names, fc.string({ unit: 'grapheme' })), { selector: ([name]) => name }),
        (pairs) => {
          const fields = parseFormFields(new URLSearchParams(pairs).toString());
          expect([...(fields ?? [])]).toEqual(pairs);
        },
      ),
      runs(100),
    );
  });

  it.each(['text', '=x', 'a=%', 'a=%zz', 'a=%ff', 'a=%ed%a0%80'])('are none in %j', (text) => {
    expect(parseFormFields(text)).toBeNull();
  });

  it.each(['a=&', '&'])('are none if there are more than any form has: %j', (pair) => {
    expect(parseFormFields(pair.repeat(31))).not.toBeNull();
    expect(parseFormFields(pair.repeat(32))).toBeNull();
  });

  it('count once, and may be none', () => {
    expect([...(parseFormFields('a=1&a=2&&b=') ?? [])]).toEqual([
      ['a', '1'],
      ['b', ''],
    ]);
    expect(parseFormFields('')).toEqual(new Map());
  });
});

const named = (text: string) =>
  parseThreadText(text, { owner: 'octo', name: 'hello' }, 'https://host.test:8443');

describe('a thread', () => {
  it.each([
    '12',
    ' #12 ',
    'https://host.test:8443/octo/hello/issues/12',
    'https://host.test:8443/Octo/Hello/pull/12/files?w=1#diff',
    'http://host.test:8443/octo/hello/pulls/12#issuecomment-1',
    'host.test:8443/octo/hello/issues/12',
  ])('is named by %j', (text) => {
    expect(named(text)).toEqual({ kind: 'thread', number: 12 });
  });

  it.each([
    ['', /^Write the number/],
    ['0', /^Write the number/],
    ['-1', /^Write the number/],
    ['1e3', /^Write the number/],
    ['9'.repeat(16), /^Write the number/],
    ['https://host.test:8443/octo/hello', /^Write the number/],
    ['https://evil.test/octo/hello/issues/12', /not on host\.test:8443/],
    ['https://host.test:8443@evil.test/octo/hello/issues/12', /not on host\.test:8443/],
    ['https://host.test:8443/octo/other/issues/12', /another repository/],
    ['data:text/html,//host.test/octo/hello/issues/12', /^Write the number/],
  ])('is not named by %j', (text, problem) => {
    expect(named(text)).toEqual({ kind: 'invalid', problem: expect.stringMatching(problem) });
  });
});
