/**
 * Decisions of the environment at the start (contract, 1), and a service with an address but
 * without a token.
 */
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { send } from './support/http.ts';
import { failedStart, useService, type Variables } from './support/service.ts';

describe('npm start', () => {
  it('names every variable that it cannot take, and ends', async () => {
    const bad: Variables = {
      PORT: '65536',
      READ_TIMEOUT: '30',
      WRITE_TIMEOUT: '30sec',
      LOG_FORMAT: 'xml',
    };
    const { exitCode, stdout, stderr } = await failedStart(bad, 'npm');
    expect(exitCode).not.toBe(0);
    const said = stdout + stderr;
    for (const [name, value] of Object.entries(bad)) expect(said).toContain(`${name} is "${value}"`);
  });

  it('refuses the port 0', async () => {
    const { exitCode, stdout, stderr } = await failedStart({ PORT: '0' });
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain('PORT is "0"');
  });

  it.each([
    { READ_TIMEOUT: '30s', WRITE_TIMEOUT: '1m' },
    { READ_TIMEOUT: '500ms', WRITE_TIMEOUT: '1h30m', LOG_FORMAT: 'text' },
  ])('takes %j', async (variables) => {
    // Something listens there already: that is all it complains of.
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as { port: number };
    try {
      const { stdout, stderr } = await failedStart({ PORT: String(port), ...variables });
      const complaints = `${stdout}${stderr}`.split('\n').filter((line) => / is "/.test(line));
      expect(complaints).toEqual([expect.stringContaining(`PORT is "${port}"`) as string]);
    } finally {
      server.close();
    }
  });
});

describe('SERVICE_URL without HOSTING_TOKEN', () => {
  const SERVICE_URL = 'https://veil.example';
  const service = useService(() => ({ SERVICE_URL, DB_URL: 'https://db.example' }));

  it('starts, with a warning that the code host is embedded', () => {
    const warnings = service
      .stdout()
      .split('\n')
      .filter((line) => /warn/i.test(line));
    expect(warnings.filter((line) => /embedded/i.test(line))).toHaveLength(1);
  });

  it('says so on its front page, too', async () => {
    const page = await send(service.url, { headers: { Accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/embedded/i);
  });

  it('warns once of a database that has no key', () => {
    const warnings = service
      .stdout()
      .split('\n')
      .filter((line) => line.includes('DB_KEY'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/statistics/i);
  });

  it('outweighs the host of the request in footers', async () => {
    const api = `${service.hostUrl}/api/v3/repos/octo/hello`;
    const headers = { Host: 'another.example' };
    const created = await send(`${service.url}/v1/gh/octo/hello/issues/anonymous`, {
      json: { title: 'a', body: 'b' },
      headers,
    });
    const { number } = created.json as { number: number };
    const { body } = (await send(`${api}/issues/${number}`)).json as { body: string };
    expect(body).toContain(`](${SERVICE_URL})`);
    const commented = await send(`${service.url}/v1/gh/octo/hello/issues/${number}/comments/anonymous`, {
      json: { body: 'Hello.' },
      headers,
    });
    const { hash } = commented.json as { hash: string };
    const [comment] = (await send(`${api}/issues/${number}/comments`)).json as { body: string }[];
    expect(comment?.body).toBe(
      `Hello.\n\n---\nanon-${hash} · karma (1) · [report](${SERVICE_URL}/v1/moderation/report?hash=${hash})`,
    );
  });

  it('logs as text, on standard output', () => {
    expect(service.stderr()).toBe('');
    for (const line of service.stdout().split('\n').filter(Boolean)) expect(line).not.toMatch(/^\{/);
  });
});
