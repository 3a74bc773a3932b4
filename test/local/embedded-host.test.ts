/** When `npm start` may use the embedded code host. */
import { describe, expect, it } from 'vitest';
import { embeddingProblem } from '../../local/embedded-host.ts';
import { parseConfig } from '../../src/config.ts';

function problemWith(env: Record<string, string>): string | null {
  const result = parseConfig(env);
  if (result.kind === 'invalid') throw new Error('invalid');
  return embeddingProblem(result.config);
}

describe('embeddingProblem', () => {
  it.each([
    {},
    { HOST: '0.0.0.0' },
    { SERVICE_URL: '' },
    { SERVICE_URL: 'http://localhost:8080' },
    { SERVICE_URL: 'http://127.0.0.1:8080' },
    { SERVICE_URL: 'http://[::1]:8080/' },
    { SERVICE_URL: 'https://LOCALHOST' },
  ])('is none with %j', (env) => {
    expect(problemWith(env)).toBeNull();
  });

  it.each(['https://veil.example', 'http://192.168.1.5:8080', 'http://127.example', 'http://[2001:db8::1]'])(
    'names what to do with SERVICE_URL=%s',
    (SERVICE_URL) => {
      const problem = problemWith({ SERVICE_URL });
      expect(problem).toContain(`SERVICE_URL is "${SERVICE_URL}"`);
      expect(problem).toMatch(/set HOSTING_TOKEN to .* or unset SERVICE_URL/);
    },
  );

  it('names what to do with an address in the Tor network, which is open to everybody', () => {
    const ONION_URL = `http://${'a2b3'.repeat(14)}.onion`;
    const problem = problemWith({ SERVICE_URL: 'http://localhost:8080', ONION_URL });
    expect(problem).toContain(`ONION_URL is "${ONION_URL}"`);
    expect(problem).toMatch(/set HOSTING_TOKEN to .* or unset ONION_URL/);
    expect(problemWith({ SERVICE_URL: 'https://veil.example', ONION_URL })).toMatch(/or unset SERVICE_URL/);
  });
});
