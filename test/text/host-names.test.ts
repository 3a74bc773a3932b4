import { expect, it } from 'vitest';
import hostNames from '../../src/text/host-names.ts';

it.each([
  ['bücher.example', 'xn--bcher-kva.example'],
  ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
  ['Plain.Example', 'plain.example'],
])('the name of a host is as a browser sends it: %s', (name, sent) => {
  expect(hostNames.toASCII(name)).toBe(sent);
});

it('a name that somebody reads stays as it was sent, so none looks like another', () => {
  expect(hostNames.toUnicode('xn--bcher-kva.example')).toBe('xn--bcher-kva.example');
});
