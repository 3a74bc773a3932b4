/** Under which name the service appears, whatever name a client calls it by. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import type { Clone, GitRun } from '../support/person.ts';
import { wordsOf } from '../support/form-client.ts';
import { commentsOn } from '../support/speak.ts';
import { useOwnTestBed, useTestBed } from '../support/test-bed.ts';

const VEIL = 'veil.test:8443';
const ONION = `${'a2b3'.repeat(14)}.onion`;

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Asks as `fetch` cannot, under a name of the client's own. */
function askAs(host: string, url: string, json?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const type = json === undefined ? {} : { 'Content-Type': 'application/json' };
    const options = {
      method: json === undefined ? 'GET' : 'POST',
      headers: { Host: host, Accept: 'text/html,*/*', ...type },
    };
    const sent = request(url, { ...options, agent: false }, (answer) => {
      void text(answer).then(
        (body) => resolve({ status: answer.statusCode, headers: answer.headers, body }),
        reject,
      );
    });
    sent.on('error', reject).end(json === undefined ? undefined : JSON.stringify(json));
  });
}

/** The words of a page: an address may be broken into lines. */
const shown = (html: string): string => wordsOf({ html });

function pushAs(clone: Clone, host: string): Promise<GitRun> {
  return clone.tryGit('-c', `http.extraHeader=Host: ${host}`, 'push', 'origin', 'HEAD:topic');
}

describe('a service without SERVICE_URL', () => {
  const bed = useTestBed();

  it('publishes scheme and host of the request', async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await upstream.grow({ files: { '.gitveil.yml': 'pull_request_footer: true\n' } });
    await clone.commit();
    const pushed = await pushAs(clone, VEIL);
    const { pull, banner } = await expectAccepted(bed, contribution, pushed);
    expect(pushed.stderr).toContain(`http://${VEIL}/v1/pr/${banner.prHash}`);
    expect(pull.body).toContain(`(http://${VEIL})`);
    const thread = `${upstream.fullName}/issues/${pull.number}`;
    const path = `${bed.service.url}/v1/gh/${upstream.fullName}/issues`;
    const comment = await askAs(VEIL, `${path}/${pull.number}/comments/anonymous`, { body: 'Hello' });
    const issue = await askAs(VEIL, `${path}/anonymous`, { title: 'T', body: 'Words' });
    expect([comment.status, issue.status]).toEqual([200, 200]);
    expect(await commentsOn(bed, thread)).toEqual([
      expect.stringContaining(`(http://${VEIL}/v1/moderation/report?`),
    ]);
    const { number } = JSON.parse(issue.body) as { number: number };
    const created = await bed.host.call('GET', `/repos/${upstream.fullName}/issues/${number}`);
    expect(JSON.stringify(created)).toContain(`(http://${VEIL})`);
    const page = async () => shown((await askAs(VEIL, `${bed.service.url}/v1/pr/${banner.prHash}`)).body);
    await expect.poll(page).toContain(`http://${VEIL}/v1/gh/${upstream.fullName}`);
  });
});

describe('a host that is none', () => {
  const bed = useTestBed();

  it.each(['a b', 'veil.test:99999'])('%j is refused, and the log is not alarmed', async (host) => {
    for (const json of [undefined, { title: 'T', body: 'Words' }]) {
      const path = json === undefined ? '/' : '/v1/gh/octo/hello/issues/anonymous';
      const answer = await askAs(host, bed.service.url + path, json);
      expect([answer.status, answer.body]).toEqual([400, '{"error":"the Host header is not valid"}']);
    }
    expect(bed.logLines.filter((line) => / (?:warn|error) /.test(line))).toEqual([]);
  });
});

describe('a service with an onion address', () => {
  const bed = useOwnTestBed({
    env: { SERVICE_URL: 'https://veil.example', ONION_URL: `http://${ONION}`, INTRODUCE: 'never' },
  });

  it('shows it to those who came through it, and publishes SERVICE_URL', async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await upstream.grow({ files: { '.gitveil.yml': 'pull_request_footer: true\n' } });
    await clone.commit();
    const pushed = await pushAs(clone, ONION);
    const { pull, banner } = await expectAccepted(bed, contribution, pushed);
    expect(pushed.stderr).toContain(`http://${ONION}/v1/pr/${banner.prHash}`);
    expect(pushed.stderr).not.toContain('veil.example');
    const published = JSON.stringify(await bed.host.call('GET', `/repos/${upstream.fullName}/pulls`));
    expect(published).toContain('https://veil.example');
    const comments = `${bed.service.url}/v1/gh/${upstream.fullName}/issues/${pull.number}/comments/anonymous`;
    expect((await askAs(ONION, comments, { body: 'Hello' })).status).toBe(200);
    const [comment] = await commentsOn(bed, `${upstream.fullName}/issues/${pull.number}`);
    expect(comment).toContain('(https://veil.example/v1/moderation/report?');
    for (const told of [published, comment]) expect(told).not.toContain('.onion');
  });

  it('tells browsers of the onion address at SERVICE_URL only', async () => {
    const { fullName } = await bed.createUpstream();
    const path = `${bed.service.url}/v1/gh/${fullName}`;
    const askPage = (host: string) =>
      askAs(host, path).then(({ headers, body }) => ({
        facts: [headers['onion-location'], headers['cache-control']],
        body,
      }));
    const clear = await askPage('veil.example');
    expect(clear.facts).toEqual([`http://${ONION}/v1/gh/${fullName}`, 'public, max-age=60']);
    expect(shown(clear.body)).toContain(`https://veil.example/v1/gh/${fullName}`);
    const hidden = await askPage(ONION);
    expect(hidden.facts).toEqual([undefined, 'private, max-age=60']);
    expect(shown(hidden.body)).toContain(`http://${ONION}/v1/gh/${fullName}`);
    expect(hidden.body).not.toContain('veil.example');
  });
});
