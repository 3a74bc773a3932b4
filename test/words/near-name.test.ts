import { describe, expect, it } from 'vitest';
import { nearName } from '../../src/words/near-name.ts';

const KNOWN = ['title', 'base', 'preview', 'publish-names', 'pr-hash', 'pr-key'];

describe('nearName', () => {
  it.each([
    ['Preview', 'preview'],
    ['PUBLISH_NAMES', 'publish-names'],
    ['pr_hash', 'pr-hash'],
    ['titl', 'title'],
    ['titlee', 'title'],
    ['tytle', 'title'],
    ['tilte', 'title'],
    ['ase', 'base'],
    ['previw', 'preview'],
    ['rpeveiw', 'preview'],
    ['prevw', 'preview'],
    ['ppreviews', 'preview'],
    ['Publishnams', 'publish-names'],
    ['prhash', 'pr-hash'],
  ])('finds what %s means', (name, meant) => {
    expect(nearName(name, KNOWN)).toBe(meant);
  });

  it.each(['title', 'preview', 'pr-key'])('finds nothing for the known name %s', (name) => {
    expect(nearName(name, KNOWN)).toBeUndefined();
  });

  it.each(['', 'tytlle', 'bs', 'pr-keyyy', 'previous-one', 'prev', 'x'.repeat(100_000)])(
    'finds nothing for another word: %.20s',
    (name) => {
      expect(nearName(name, KNOWN)).toBeUndefined();
    },
  );

  it('prefers the nearest', () => {
    expect(nearName('SERVICE_URLS', ['SERVICE_URI12', 'SERVICE_URL'])).toBe('SERVICE_URL');
  });

  it('knows a known name next to a similar one', () => {
    expect(nearName('DB_URL', ['DB_URI', 'DB_URL'])).toBeUndefined();
  });
});
