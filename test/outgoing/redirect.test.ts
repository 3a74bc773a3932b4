/** Which redirects are followed. */
import { describe, expect, it } from 'vitest';
import { redirectTarget } from '../../src/outgoing/http-client.ts';

function target(method: string, status: number, location?: string): string | null {
  const headers = new Headers(location === undefined ? {} : { Location: location });
  const request = { method, url: new URL('https://api.host.test/repos/a/b') };
  return redirectTarget(request, new Response(null, { status, headers }))?.href ?? null;
}

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('of a read with %i is followed on the same server', (status) => {
    for (const method of ['GET', 'HEAD']) {
      expect(target(method, status, '/repositories/1')).toBe('https://api.host.test/repositories/1');
      expect(target(method, status, 'https://api.host.test/x?y')).toBe('https://api.host.test/x?y');
    }
  });

  it('of a write is followed only where it stays the same write', () => {
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
      for (const status of [307, 308]) expect(target(method, status, '/x')).toBe('https://api.host.test/x');
      for (const status of [301, 302, 303]) expect(target(method, status, '/x')).toBeNull();
    }
  });

  it.each([
    'https://host.test/x',
    'http://api.host.test/x',
    'https://api.host.test:8443/x',
    '//elsewhere.test/x',
    'https://api.host.test.elsewhere.test/',
    'https:\\\\elsewhere.test/',
    'ftp://api.host.test/x',
    'javascript:alert(1)',
    'https://[bad/',
  ])('to another server is not followed: %s', (location) => {
    for (const status of [301, 307]) expect(target('GET', status, location)).toBeNull();
  });

  it.each([200, 201, 300, 304, 305, 404])('is none with the status %i', (status) => {
    expect(target('GET', status, '/x')).toBeNull();
  });

  it('that leads nowhere is none', () => {
    expect(target('GET', 301)).toBeNull();
  });
});
