/** Webhooks of the App: what they tell, how they are signed, and how a test may send them. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { PERMISSIONS } from './support/app.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { createFilled, openPull, pushUrl } from './support/host.ts';

const SECRET = 'a secret of the webhook';
const ON = { owner: 'octocat', repo: 'hello' };
const workshop = new Workshop();
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
const server = createServer((request, response) => {
  void buffer(request).then((body) => {
    received.push({ headers: request.headers, body: body.toString() });
    response.writeHead(204).end();
  });
});
let host: Sandbox;
let number: number;
let workTree: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  host = await startSandbox({ forkDelayMs: 0 });
  const webhook = { url: `http://127.0.0.1:${port}/hook`, secret: SECRET };
  host.apps.register({ slug: 'gitveil', permissions: PERMISSIONS, webhook });
  workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello' });
  await createFilled(host, workTree, { owner: 'octocat', name: 'other' });
  await commitFile(workTree, 'news.txt', 'News\n', 'Add news');
  number = await openPull(host, workTree, 'octocat/hello', 'topic');
  host.apps.install('octocat', ['hello']);
});

beforeEach(() => {
  made().length = 0;
  received.length = 0;
});

afterAll(async () => {
  server.close();
  await host.close();
  workshop.remove();
});

const made = () => host.apps.webhooks.made;
const names = () => made().map(({ event, action }) => `${event} ${action}`);
const payloads = () => made().map(({ body }) => JSON.parse(body) as Record<string, unknown>);

test('tell what happens to threads where the App is installed', async () => {
  const { maintainer } = host;
  const on = { ...ON, number };
  const comment = maintainer.comment(on, 'Hm');
  maintainer.editComment('octocat', 'hello', comment, 'Hmm');
  maintainer.deleteComment('octocat', 'hello', comment);
  maintainer.review(on, 'APPROVED', 'Good');
  maintainer.openIssue('octocat', 'hello', 'An issue', 'Why');
  maintainer.openIssue('octocat', 'other', 'Elsewhere', 'Why');
  await commitFile(workTree, 'more.txt', 'More\n', 'Add more');
  const forked = pushUrl(host, `${host.botLogin}/hello`);
  await git(workTree, 'push', '--quiet', forked, 'HEAD:topic');
  maintainer.close(on);
  expect(names()).toEqual([
    'issue_comment created',
    'issue_comment edited',
    'issue_comment deleted',
    'pull_request_review submitted',
    'issues opened',
    'pull_request synchronize',
    'pull_request closed',
  ]);
  const [first, , , review] = payloads();
  expect(first).toMatchObject({
    issue: { number, pull_request: {} },
    comment: { body: 'Hm' },
    repository: { full_name: 'octocat/hello' },
    sender: { login: 'octocat' },
    installation: { id: host.apps.ofAccount('octocat')?.id },
  });
  expect(review).toMatchObject({ pull_request: { number }, review: { state: 'approved' } });
});

test('tell what becomes of the installation, and nothing of threads while it is suspended', () => {
  const { apps, maintainer } = host;
  apps.select('octocat', 'other', true);
  apps.setSuspended('octocat', true);
  maintainer.openIssue('octocat', 'hello', 'Unheard', 'Why');
  apps.setSuspended('octocat', false);
  apps.setPermissions('octocat', { metadata: 'read' });
  apps.uninstall('octocat');
  maintainer.openIssue('octocat', 'hello', 'Unheard', 'Why');
  apps.install('octocat', ['hello']);
  expect(names()).toEqual([
    'installation_repositories added',
    'installation suspend',
    'installation unsuspend',
    'installation new_permissions_accepted',
    'installation deleted',
    'installation created',
  ]);
  expect(payloads().at(-2)).toMatchObject({ repositories: [{ name: 'hello' }, { name: 'other' }] });
});

test('are sent when a test says so, signed, in any order, and again', async () => {
  const { apps, maintainer } = host;
  maintainer.openIssue('octocat', 'hello', 'First', 'Why');
  maintainer.openIssue('octocat', 'hello', 'Second', 'Why');
  expect(received).toEqual([]);
  const [first, second] = made();
  if (!first || !second) throw new Error('nothing was made');
  for (const delivery of [second, first, first]) expect(await apps.webhooks.send(delivery)).toBe(204);
  expect(received.map(({ body }) => body)).toEqual([second.body, first.body, first.body]);
  const [{ headers, body }] = received as [(typeof received)[number]];
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  expect(headers).toMatchObject({
    'x-github-event': 'issues',
    'x-hub-signature-256': `sha256=${signature}`,
    'x-github-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  });
});

test('are sent at once where nobody holds them', async () => {
  host.apps.webhooks.isHeld = false;
  host.maintainer.openIssue('octocat', 'hello', 'Now', 'Why');
  await expect.poll(() => received.length).toBe(1);
  host.apps.webhooks.isHeld = true;
});
