/**
 * A host's words, for people: no network address gets through, whatever its spelling, and other
 * words do.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostLines, hostText, oneLine } from '../../src/words/host-text.ts';

describe('an address in the words of a host', () => {
  it.each([
    // cli/cli#12150, microsoft/PullRequestQuantifier#118
    'Although you appear to have the correct authorization credentials, the `octo` organization has an IP allow list enabled, and @ is not permitted to access this resource.',
    // InsightSoftwareConsortium/ITKSoftwareGuide#86
    "API rate limit exceeded for @. (But here's the good news: Authenticated requests get a higher rate limit.)",
    'You are @!',
    '@',
    'IP:@',
    'ip=@,',
    '<@>',
    '"@"',
    'from [@]:443, port 7',
    'http://[@]:8080/path?x=y',
  ])('is removed: %s', (sentence) => {
    for (const address of [
      '203.0.113.77',
      '2001:db8:85a3:8d3:1319:8a2e:370:7348',
      '2001:DB8::7348',
      '::ffff:203.0.113.77',
      'fe80::1%eth0',
    ]) {
      const shown = hostText(sentence.replace('@', address));
      expect(shown).toContain('[removed]');
      expect(shown).not.toMatch(/203|113|db8|7348|fe80|eth0/i);
    }
  });

  it.each([
    '203.0.113.77:51234',
    '203.0.113.77/32',
    '203.000.113.077',
    '0313.0.0161.0115',
    '0xcb.0x0.0x71.0x4d',
    '77.113.0.203.in-addr.arpa',
    'ec2-203-0-113-77.compute-1.amazonaws.com',
    '２０３．０．１１３．７７',
    'https://host.test/blocked?ip=2001%3Adb8%3A%3A7348',
    '2001:db8::',
    '2001:db8:1:2::/64',
    '2001:db8:85a3:8d3',
    '0:0:0:0:0:ffff:cb00:714d',
    '[2001:db8::7348]:51234',
    'IP:2001:db8::7348',
    // HAProxy's own example of `unique-id-format`: the first group is the client's address.
    '7F000001:8296_7F00001E:1F90_4F7B0A69_0003:790E',
    // mamertofabian/bolt-to-github#25
    'FEC8:1A8AD1:67128F1:CECF643:67CB890E',
  ])('is removed in another spelling: %s', (address) => {
    expect(hostText(`You are ${address} today`)).toBe('You are [removed] today');
  });

  it.each([
    'Validation Failed: base abuse',
    'refusing to allow a Personal Access Token to create or update workflow `.github/workflows/ci.yml`',
    'error at std::io::Error, fmt::Display, src/main.rs:10:5: expected',
    'Deprecated since 2026-11-22T12:00:00Z (12:34:56), use git 2.39.5',
    'A pull request already exists for bot:anon-0123456789ab.',
    'Repository octo/hello#7 is archived; see https://host.test/docs?a=1&b=2.',
    'object 0123456789abcdef0123456789abcdef01234567: missingSpaceBeforeDate',
    'user ID 12345678',
    'Gitea 1.26.0-123-gabcdef',
  ])('is none: %s', (sentence) => {
    expect(hostText(sentence)).toBe(sentence);
  });

  it('is removed before the text is cut, so that no part of one is left', () => {
    const shown = hostText(`${'x'.repeat(290)} 203.0.113.77 2001:db8::7348`);
    expect(shown).toBe(`${'x'.repeat(290)} [removed]…`);
    expect(hostText('203.0.113.77 '.repeat(1000))).not.toMatch(/\d/);
    expect(hostText(`${'x'.repeat(9000)} 203.0.113.77`)).not.toMatch(/203/);
  });

  it('is removed from each line, and the lines are few', () => {
    const text = 'first 203.0.113.77\n\n\tsecond\r\n' + 'more\n'.repeat(100);
    expect(hostLines(text).slice(0, 3)).toEqual(['first [removed]', 'second', 'more']);
    expect(hostLines(text).length).toBeLessThanOrEqual(20);
  });

  it('is removed wherever it stands, be it of any address', () => {
    const ipv6 = fc.ipV6().filter((address) => address !== '::');
    const around = fc.constantFrom('', ' ', ': ', 'IP:', '(', '"', '=', '[', '/');
    fc.assert(
      fc.property(around, fc.oneof(fc.ipV4(), fc.ipV4Extended(), ipv6), around, (before, address, after) => {
        // A single number may be anything.
        fc.pre(!/^\w+$/.test(address) && address.split('.').length !== 2 && address.split('.').length !== 3);
        expect(hostText(`at ${before}${address}${after.replace('IP:', '')} end`)).not.toContain(address);
      }),
    );
  });
});

describe('a line', () => {
  it('has no control characters, and is short', () => {
    expect(oneLine('a\u001b[31m\nb\u009f')).toBe('a[U+001B][31m b[U+009F]');
    expect(oneLine('1.2.3.4')).toBe('1.2.3.4');
    expect(oneLine('a\r\n\tb\u001b]0;c\u202ed\u2028e')).toBe('a b[U+001B]]0;c[U+202E]d e');
    expect(oneLine('x'.repeat(400))).toBe(`${'x'.repeat(300)}…`);
  });
});
