/** `npm run doctor`: what an operator reads on one screen, and with what it ends. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Finding, screenOf } from '../../local/operator/finding.ts';
import { clockFinding, diskFinding } from '../../local/operator/machine-check.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { ownEnvironment, ROOT } from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const PUSH_PATH = '/git-receive-pack';
const PUSH_ANSWER = 'application/x-git-receive-pack-result';

const SCREEN = { lines: 24, columns: 80 };

let folder: string;
let sandbox: Sandbox;
let reachable: Awaited<ReturnType<typeof serviceThat>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  sandbox = await startSandbox();
  reachable = await serviceThat({});
});
afterAll(async () => {
  reachable.server.close();
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Variables of an operator whose host is like GitHub; here, it is the embedded code host. */
const hosting = (more: Record<string, string> = {}) => ({
  HOSTING_URL: sandbox.url,
  HOSTING_API_URL: sandbox.apiUrl,
  HOSTING_TOKEN: sandbox.botToken,
  CLIENT_IP_HEADER: 'X-Real-IP',
  SERVICE_URL: reachable.url,
  OPERATOR_CONTACT: 'ada@example.org',
  NOTIFY_ADMIN_TOPIC: 'operator',
  NOTIFY_ADMIN_URL: 'https://ntfy.example.org',
  ...more,
});

interface Ended {
  readonly code: number | string | null | undefined;
  readonly screen: string;
  readonly stderr: string;
}

async function doctor(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const all = { ...ownEnvironment(), STATE_DIR: join(folder, 'state'), ...env };
  const ended = await new Promise<Ended>((resolve) => {
    execFile(
      process.execPath,
      ['local/operator/doctor.ts', ...args],
      { cwd: ROOT, env: all },
      (error, screen, stderr) => {
        resolve({ code: error === null ? 0 : error.code, screen, stderr });
      },
    );
  });
  expect(ended.stderr).toBe('');
  expect(ended.screen.split('\n').length).toBeLessThanOrEqual(SCREEN.lines);
  return ended;
}

describe('npm run doctor', () => {
  it('ends with 0 where all is well, and changes nothing', exhaustive, async () => {
    const { code, screen } = await doctor(
      hosting({ SPOOL_MB: '1000', DELAYED_MB: '10', PRIVATE_REPORTS: 'account' }),
    );
    expect(screen).toMatch(/^ok +private reports +whoever can sign in as the bot can read them$/m);
    expect(screen).toMatch(/^ok +configuration +\d+ variables are set$/m);
    expect(screen).toMatch(/^ok +host gh +127\.0\.0\.1:\d+, GitHub$/m);
    expect(screen).toMatch(/^ok +token gh +\S+, with every scope it needs$/m);
    expect(screen).toMatch(/^ok +alerts +to ntfy\.example\.org$/m);
    expect(screen).toMatch(/^ok +panic button +would ask http:\/\/127\.0\.0\.1:\d+ to reject every push$/m);
    expect(screen).toMatch(/^ok +the way here +open: 127\.0\.0\.1:\d+ answers pushes$/m);
    expect(screen).toMatch(/^ok +clock +(as at|\d+ s (ahead of|behind)) 127\.0\.0\.1:\d+$/m);
    expect(screen).toMatch(/^ok +disk +[\d.]+ GB free in \S+\/state$/m);
    expect(screen).not.toContain('What to do');
    expect(code).toBe(0);
    expect(existsSync(join(folder, 'state'))).toBe(false);
  });

  it('checks the GitHub App, where there is one', exhaustive, async () => {
    const { id, key } = sandbox.apps.register({ slug: 'gitveil', permissions: { metadata: 'read' } });
    const app = { GITHUB_APP_ID: String(id), GITHUB_APP_KEY: key };
    const { code, screen } = await doctor(hosting(app));
    expect(screen).toMatch(/^problem +permissions +contents: read, issues: write, pull_requests: write mis/m);
    expect(screen).toMatch(/^warning +webhook +none: what maintainers do is noticed within a minute$/m);
    expect(code).toBe(1);
    const other = await doctor(hosting({ GITHUB_WEBHOOK_SECRET: 'a-secret-of-the-webhook' }));
    expect(other.screen).toMatch(/^warning +app +none, but its webhook has a secret$/m);
  });

  it('knows the embedded code host, which starts with the service', async () => {
    const { code, screen } = await doctor({});
    expect(screen).toMatch(/^ok +host gh +embedded: it starts with the service, and needs no token$/m);
    expect(code).toBe(0);
  });

  it('says what of the configuration npm start refuses, and what it warns of', exhaustive, async () => {
    const refused = await doctor({
      PORT: 'http',
      HOSTING_TOKN: 'x',
      SERVICE_URL: 'ftp://git.example.org/',
    });
    expect(refused.screen).toContain('- PORT is "http": it must be a whole number from 1 to 65535');
    expect(refused.screen.replaceAll(/\s+/g, ' ')).toContain('did you mean HOSTING_TOKEN?');
    // An address is not cut where it names a variable.
    expect(refused.screen).toMatch(/^problem +configuration +SERVICE_URL is "ftp:\/\/git\.example\.org\/"$/m);
    expect(refused.code).toBe(1);
    const warned = await doctor(
      hosting({ SERVICE_URL: 'https://git.invalid', OPERATOR_CONTACT: '', PANIC_PASSWORD: 'hunter2' }),
    );
    expect(warned.screen).toMatch(/^warning +configuration +OPERATOR_CONTACT is not set$/m);
    expect(warned.screen).toMatch(/^warning +configuration +PANIC_PASSWORD has fewer than 16 characters$/m);
    expect(warned.screen).not.toContain('hunter2');
    expect(warned.code).toBe(0);
  });

  it(
    'warns where nobody would be told, and of the public server without an account',
    exhaustive,
    async () => {
      const untold = await doctor(hosting({ NOTIFY_ADMIN_TOPIC: '' }));
      expect(untold.screen).toMatch(/^warning +alerts +none: NOTIFY_ADMIN_TOPIC is not set$/m);
      const shared = await doctor(hosting({ NOTIFY_ADMIN_URL: 'https://ntfy.sh' }));
      expect(shared.screen).toMatch(/^warning +alerts +to ntfy\.sh, without an account$/m);
      expect(shared.screen.replaceAll(/\s+/g, ' ')).toContain(
        'or NOTIFY_TOKEN to the token of an account there.',
      );
      const own = await doctor(hosting({ NOTIFY_ADMIN_URL: 'https://ntfy.sh', NOTIFY_TOKEN: 'tk_1' }));
      expect(own.screen).toMatch(/^ok +alerts +to ntfy\.sh$/m);
      expect([untold.code, shared.code, own.code]).toEqual([0, 0, 0]);
    },
  );

  it.each([
    [{ sent: true }, 'ok', 'was accepted: check whether it reached you', ''],
    [{ sent: false, problem: 'ntfy.test refuses it.' }, 'problem', 'was not sent', '- ntfy.test refuses it.'],
    [{ error: 'invalid credentials' }, 'problem', 'was not sent', 'says: invalid credentials.'],
  ])('asks the service for a test alert if told to: %j', exhaustive, async (answer, state, says, remedy) => {
    const { server, url, asked } = await serviceThat(answer);
    const { code, screen } = await doctor(
      hosting({ SERVICE_URL: url, PANIC_PASSWORD: 'correct horse battery staple' }),
      '--alert',
    );
    server.close();
    expect(screen).toMatch(new RegExp(`^${state} +test alert +${says}$`, 'm'));
    expect(screen).toContain(remedy);
    if (state === 'ok') expect(screen).toMatch(/^ok +pushes +are accepted now$/m);
    expect(asked).toContain('POST /admin/test-alert {"password":"correct horse battery staple"}');
    expect(screen).not.toContain('correct horse');
    expect(code).toBe(state === 'ok' ? 0 : 1);
  });

  it('says why it cannot ask the service for a test alert', exhaustive, async () => {
    const locked = await doctor(hosting(), '--alert');
    expect(locked.screen).toMatch(/^problem +test alert +cannot be asked for without PANIC_PASSWORD$/m);
    const { server, url } = await serviceThat({});
    server.close();
    const env = { SERVICE_URL: url, PANIC_PASSWORD: 'correct horse battery staple' };
    const { screen } = await doctor(hosting(env), '--alert');
    expect(screen.replaceAll(/\s+/g, ' ')).toContain(
      `Nobody answers at ${url} (ECONNREFUSED). Set SERVICE_URL`,
    );
  });

  it('names the setting of what answers pushes in the place of the service, and changes nothing', async () => {
    const { server, url } = await wallThat((bytes) => bytes > 100_000 && 413);
    const { code, screen } = await doctor(hosting({ SERVICE_URL: url }));
    server.close();
    expect(screen).toMatch(/^problem +the way here +closed: a push of 200 KB does not arrive \(413\)$/m);
    expect(screen.replaceAll(/\s+/g, ' ')).toContain('set client_max_body_size to 0');
    expect(code).toBe(1);
    const nobody = await doctor(hosting({ SERVICE_URL: url }));
    expect(nobody.screen).toMatch(/^warning +the way here +unknown: \S+ does not answer$/m);
    expect(nobody.code).toBe(0);
  });

  it('names hosts that do not answer, in one screen even if they are many', exhaustive, async () => {
    const dead = await startSandbox();
    await dead.close();
    const HOSTS = Array.from(
      { length: 20 },
      (_, index) => `h${index}=gitea:http://127.1.0.${index + 1}:${new URL(dead.url).port}`,
    ).join(',');
    const one = await doctor(hosting({ HOSTS: HOSTS.split(',')[0] as string, HOSTING_TOKEN_H0: 'x' }));
    expect(one.screen).toMatch(/^problem +host h0 +127\.1\.0\.1:\d+ does not answer \(ECONNREFUSED\)$/m);
    expect(one.screen).toMatch(/^ok +token gh /m);
    expect(one.code).toBe(1);
    const many = await doctor(hosting({ HOSTS }));
    expect(many.screen).toContain('… and more: correct these first, and run this again.');
    expect(many.code).toBe(1);
  });

  it('says that without its token people can only fetch from a host', exhaustive, async () => {
    const { server, url } = await hostAt('Thu, 01 Jan 2026 00:00:00 GMT');
    const { screen } = await doctor(hosting({ HOSTS: `my=gitea:${url}` }));
    server.close();
    expect(screen).toMatch(/^warning +token my +none: people can only fetch$/m);
    expect(screen).toContain('- Set HOSTING_TOKEN_MY to a token with write:repository, ');
  });

  it('compares the clock with the host’s', exhaustive, async () => {
    const { server, url } = await hostAt(new Date(Date.now() - 3_600_000).toUTCString());
    const env = { HOSTING_URL: url, HOSTING_API_URL: url, HOSTING_TOKEN: 'token' };
    const { code, screen } = await doctor(hosting(env));
    server.close();
    expect(screen).toMatch(/^problem +clock +3[56]\d\d s ahead of 127\.0\.0\.1:\d+$/m);
    expect(screen).toContain('Set this machine’s clock by NTP');
    expect(code).toBe(1);
  });

  it('tells by the host’s clock whether a token ends soon', exhaustive, async () => {
    const [today, then] = ['Thu, 01 Jan 2026 00:00:00 GMT', '2026-02-01 00:00:00 UTC'];
    const { server, url } = await hostAt(today, { 'GitHub-Authentication-Token-Expiration': then });
    const env = { HOSTING_URL: url, HOSTING_API_URL: url, HOSTING_TOKEN: 'token' };
    const { screen } = await doctor(hosting(env));
    server.close();
    expect(screen).toMatch(/^problem +clock /m);
    expect(screen).toMatch(/^ok +token gh +bot, /m);
  });

  it('names a folder that cannot be used', exhaustive, async () => {
    const nowhere = await doctor(hosting({ STATE_DIR: join(folder, 'no', 'where') }));
    expect(nowhere.screen).toMatch(/^problem +disk +\S+ cannot be used$/m);
    expect(nowhere.screen.replaceAll(/\s+/g, ' ')).toContain('does not exist; create it.');
    expect(nowhere.code).toBe(1);
  });
});

const room = (freeMb: number): Finding =>
  diskFinding({ stateDir: folder, spoolMb: 400, delayedMb: 600 }, () => freeMb);

describe('the disk', () => {
  it('is large enough for all that pushes may take, and a reserve', () => {
    expect(room(1200)).toEqual({ subject: 'disk', state: 'ok', says: `1.2 GB free in ${folder}` });
    expect(room(1199)).toMatchObject({ state: 'warning', says: `1.2 GB free in ${folder}` });
    expect(room(1199).remedy).toContain('everything else needs 200 MB: 1200 MB in all.');
  });

  it('has room for one large push, or is a problem', () => {
    expect(room(100)).toMatchObject({ state: 'warning' });
    expect(room(99)).toMatchObject({ state: 'problem' });
  });
});

const compared = (...aheadMs: number[]): Finding =>
  clockFinding(aheadMs.map((ahead, index) => ({ name: `h${index}`, aheadMs: ahead })));

describe('the clock', () => {
  it('is as at one of two hosts, if the other is wrong', () => {
    expect(compared(3_600_000, 0)).toEqual({ subject: 'clock', state: 'ok', says: 'as at h1' });
    expect(compared(-3_600_000, 0)).toEqual({ subject: 'clock', state: 'ok', says: 'as at h1' });
    expect(compared(3_600_000, 7_200_000)).toMatchObject({ state: 'problem', says: '3600 s ahead of h0' });
  });

  it('is as most hosts say', () => {
    expect(compared(-3_600_000, 3_600_000, 5_000)).toMatchObject({ state: 'ok', says: '5 s ahead of h2' });
    expect(compared(0, 3_600_000, 3_600_000)).toMatchObject({ state: 'problem' });
    expect(compared()).toMatchObject({ state: 'warning' });
  });
});

/** A service that answers so to whoever asks for a test alert. */
async function serviceThat(answer: object) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(`${request.method} ${request.url} ${body}`);
      if (request.url?.endsWith(PUSH_PATH)) response.setHeader('Content-Type', PUSH_ANSWER);
      response.end(JSON.stringify(request.method === 'POST' ? answer : { panic_mode: false }));
    });
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return { server, asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A proxy: what it refuses, by the bytes that it got, has this status and a page. */
async function wallThat(statusOf: (bytes: number) => number | false) {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const status = statusOf(body.length);
      response.writeHead(status || 200, { 'Content-Type': status ? 'text/html' : PUSH_ANSWER });
      response.end(status ? '<html>' : '');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A server that says what time it is, and answers everything as if it were any kind of host. */
async function hostAt(date: string, headers: Record<string, string> = {}) {
  const server = createServer((_, response) => {
    response.setHeader('Date', date);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(JSON.stringify({ version: '1.26.0', login: 'bot' }));
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const ok = (index: number): Finding => ({ subject: `host h${index}`, state: 'ok', says: 'is well' });
const linesOf = (findings: readonly Finding[]) => screenOf(findings).split('\n');

describe('a screen', () => {
  const bad: Finding = {
    subject: 'disk',
    state: 'problem',
    says: 'x'.repeat(200),
    remedy: 'word '.repeat(60).trim(),
  };
  const warning: Finding = { ...bad, state: 'warning', remedy: 'perhaps '.repeat(150).trim() };

  it('has no longer lines than a terminal', () => {
    expect(Math.max(...linesOf([ok(1), bad]).map(({ length }) => length))).toBeLessThanOrEqual(
      SCREEN.columns,
    );
  });

  it('leaves out what is well, and then what may be meant', () => {
    const all = Array.from({ length: 22 }, (_, index) => ok(index));
    expect(linesOf(all)).toHaveLength(22);
    const some = linesOf([...all, bad]);
    expect(some.length).toBeLessThan(SCREEN.lines);
    expect(some).toContain('ok       22 more');
    const few = screenOf([...all, bad, warning]);
    expect(few).toMatch(/^warning /m);
    expect(few).toContain('- word word');
    expect(few).not.toContain('- perhaps');
  });
});
