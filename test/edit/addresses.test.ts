import { describe, expect, it } from 'vitest';
import { aroundAddresses, newAddresses } from '../../src/edit/addresses.ts';

describe('addresses', () => {
  it.each([
    ['none here', ['none here']],
    ['ask ada@lab.example.', ['ask ', 'ada@lab.example', '.']],
    ['<zoë.q+x@uni-köln.example>', ['<', 'zoë.q+x@uni-köln.example', '>']],
    ['a@b.example,c@d.example', ['', 'a@b.example', ',', 'c@d.example', '']],
    ['@decorator and a@b and x@1.2', ['@decorator and a@b and x@1.2']],
  ])('in %j', (text, pieces) => {
    expect(aroundAddresses(text)).toEqual(pieces);
  });

  it('that the old text has are not new, and each is told once', () => {
    expect(newAddresses('a@b.example', 'a@b.example c@d.example c@d.example')).toEqual(['c@d.example']);
  });

  it('are found in time that grows with the text', () => {
    const hostile = `${'a'.repeat(500_000)}@${'b.'.repeat(250_000)}`;
    expect(newAddresses('', hostile)).toEqual([]);
  });
});
