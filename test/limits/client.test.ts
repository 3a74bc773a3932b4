/** Who counts as one client. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientNetwork, lacksAddress, namesOf, networkOf, prefixOf } from '../../src/limits/client.ts';
import { runs } from '../support/runs.ts';

function request(headers: Record<string, string>): Request {
  return new Request('https://gitveil.test/', { headers });
}

describe('prefixOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['unknown', 'unknown'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['0:0:0:0::/64', '0:0:0::/48'],
    ['fc00:dead:beef:4dad:0:0:0:2a', 'fc00:dead:beef::/48'],
  ])('takes %s as part of %s', (network, prefix) => {
    expect(prefixOf(network)).toBe(prefix);
  });
});

const names = (lifeMs: number, now: number) => namesOf((epoch) => epoch, lifeMs, now);

describe('namesOf', () => {
  const HOUR_MS = 60 * 60_000;
  const midnight = Date.UTC(2031, 0, 1);

  it('gives one name for six hours, and another after that', () => {
    const { now } = names(0, midnight);
    expect(names(0, midnight + 6 * HOUR_MS - 1).now).toBe(now);
    expect(names(0, midnight + 6 * HOUR_MS).now).not.toBe(now);
  });

  it('gives all names that a row can have, and no older one', () => {
    const lifeMs = 14 * 24 * HOUR_MS;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 * lifeMs }), (agoMs) => {
        const then = names(lifeMs, midnight + 123).now;
        const { now, earlier } = names(lifeMs, midnight + 123 + agoMs);
        const isKnown = now === then || earlier.includes(then);
        expect(isKnown).toBe(agoMs <= lifeMs || (isKnown && agoMs < lifeMs + 6 * HOUR_MS));
        expect(earlier).toHaveLength(56);
      }),
      runs(100),
    );
  });
});

describe('networkOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:ffff::', '2001:db8:0:0::/64'],
    ['2001:0db8:0001:0002:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['fc00:dead:beef:4dad::2a', 'fc00:dead:beef:4dad:0:0:0:2a'],
    ['FC00:DEAD:BEEF:4DAD::AABB:CCDD', 'fc00:dead:beef:4dad:0:0:aabb:ccdd'],
    ['fc00:dead:beef:4dae::2a', 'fc00:dead:beef:4dae::/64'],
  ])('takes %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each(['', 'localhost', '192.0.2', '192.0.2.256', '192.0.2.01', '1:2:3', ':::', '1::2::3', 'g::'])(
    'counts "%s" as unknown',
    (address) => {
      expect(networkOf(address)).toBe('unknown');
    },
  );

  it('is the same for all spellings and hosts of a /64', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), (address, other) => {
        const network = networkOf(address);
        fc.pre(network.endsWith('::/64'));
        const host = networkOf(other).endsWith('::/64') ? ':1:2:3:4' : ':0:0:0:1';
        expect(networkOf(network.replace('::/64', host))).toBe(network);
        expect(networkOf(address.toUpperCase())).toBe(network);
      }),
      runs(100),
    );
  });
});

describe('clientNetwork', () => {
  it('reads the platform’s header and nothing else that a client could set', () => {
    const headers = {
      'CF-Connecting-IP': '192.0.2.1',
      'X-Forwarded-For': '203.0.113.9',
      Forwarded: 'for=203.0.113.9',
    };
    expect(clientNetwork(request(headers), 'CF-Connecting-IP')).toBe('192.0.2.1');
    expect(clientNetwork(request({ 'X-Forwarded-For': '203.0.113.9' }), 'CF-Connecting-IP')).toBe('unknown');
  });

  it('reads the header that the operator names', () => {
    expect(clientNetwork(request({ 'X-Real-IP': '192.0.2.7' }), 'X-Real-IP')).toBe('192.0.2.7');
  });
});

describe('a header of the client address', () => {
  it.each([
    ['CF-Connecting-IP', { 'CF-Connecting-IP': '192.0.2.1' }, false],
    ['CF-Connecting-IP', { 'CF-Connecting-IP': 'proxy:8080' }, true],
    ['X-Real-IP', { 'X-Real-IP': '2001:db8::1' }, false],
    ['X-Real-IP', { 'X-Real-IP': '192.0.2.1, 192.0.2.2' }, true],
    ['X-Real-IP', {}, true],
  ])('%s of %j holds none: %s', (name, headers, expected) => {
    expect(lacksAddress(request(headers), name)).toBe(expected);
  });

  it('may be missing where there is no proxy', () => {
    const direct = new Request('https://gitveil.test/', { cf: { clientIp: '127.0.0.1:51234' } });
    expect(lacksAddress(direct, 'CF-Connecting-IP')).toBe(false);
    expect(lacksAddress(direct, 'X-Real-IP')).toBe(true);
  });
});

describe('a client without a proxy', () => {
  it.each([
    ['127.0.0.1:51234', '127.0.0.1'],
    ['[2001:db8::1]:51234', '2001:db8:0:0::/64'],
    ['unix:/run/socket', 'unknown'],
  ])('of the connection %s is %s', (clientIp, expected) => {
    const direct = new Request('https://gitveil.test/', { cf: { clientIp } });
    expect(clientNetwork(direct, 'CF-Connecting-IP')).toBe(expected);
  });
});
