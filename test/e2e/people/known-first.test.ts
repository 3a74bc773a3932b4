/** Forms that could not succeed: they say so in place of their fields. */
import { expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { type FormAnswer, FormClient, wordsOf } from '../support/form-client.ts';
import { OPERATOR, Operator } from '../support/operator.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';

const bed = useOwnTestBed({ env: { PANIC_PASSWORD: OPERATOR.PANIC_PASSWORD } });

const clientOf = () => new FormClient(bed.service.url, bed.person());
/** The forms of a repository, each with a thread or a file that exists. */
async function formsOf({ fullName }: Upstream, client = clientOf()) {
  const paths = ['/new-issue', '/reply?to=1', '/change?path=README.md'];
  return Promise.all(paths.map((path) => client.get(`/v1/gh/${fullName}${path}`)));
}
const hasFields = ({ html }: FormAnswer): boolean => /<(?:textarea|input type="text")/.test(html);

async function withIssue(files: Readonly<Record<string, string>> = {}): Promise<Upstream> {
  const upstream = await bed.createUpstream();
  await upstream.grow({ files: { 'README.md': 'Hello\n', ...files } });
  await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow' });
  return upstream;
}

it('a repository that accepts nothing, or not everything, says so before a letter is typed', async () => {
  const closed = await formsOf(await withIssue({ '.gitveil.yml': 'accept: false\n' }));
  expect(closed.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(closed.map(hasFields)).toEqual([false, false, false]);
  for (const form of closed)
    expect(wordsOf(form)).toMatch(/does not accept anonymous .*: its \.gitveil\.yml says so\./);
  const gate = `on: issues\njobs:\n  a:\n    steps:\n      - uses: mitchellh/vouch/action/check-issue@v1\n        with:\n          auto-close: true\n`;
  const listed = await withIssue({ 'VOUCHED.td': 'alice\n', '.github/workflows/vouch.yml': gate });
  const [issue] = await formsOf(listed);
  expect(issue && [hasFields(issue), wordsOf(issue)]).toEqual([
    true,
    expect.stringContaining(
      `closes issues of accounts that are not vouched for, and ${bed.sandbox.botLogin} is not in`,
    ),
  ]);
});

it('an invalid policy, and a list that denounces the bot, are told early, too', exhaustive, async () => {
  const invalid = await formsOf(await withIssue({ '.gitveil.yml': 'acept: true\n' }));
  expect(invalid.map(hasFields)).toEqual([false, false, false]);
  for (const form of invalid) expect(wordsOf(form)).toContain('(did you mean accept?)');
  const list = { 'VOUCHED.td': `-${bed.sandbox.botLogin} sends spam\n` };
  const [, , change] = await formsOf(await withIssue(list));
  expect(change && [hasFields(change), wordsOf(change)]).toEqual([
    false,
    expect.stringContaining('its VOUCHED.td denounces it'),
  ]);
});

it.each(['/new-issue', '/send-file', '/reply', '/reply?to=12'])(
  'a repository that does not exist is said to be missing, and nothing else: %s',
  async (path) => {
    const missing = await clientOf().get(`/v1/gh/octo/nowhere${path}`);
    expect([hasFields(missing), missing.problem]).toEqual([
      false,
      expect.stringContaining('has no public repository octo/nowhere. Correct the name.'),
    ]);
    expect(missing.html).not.toContain('No thread is open');
  },
);

it('a thread that does not exist is said to be missing beside those that are open', async () => {
  const missing = await clientOf().get(`/v1/gh/${(await withIssue()).fullName}/reply?to=99`);
  expect(missing.status).toBe(404);
  for (const words of ['has no issue or pull request #99', 'Slow']) expect(wordsOf(missing)).toContain(words);
});

it('suspended, full or without somebody to reach, the forms say so', async () => {
  const upstream = await withIssue();
  const appeal = await clientOf().get('/v1/moderation/appeal?thread=octo/hello%231');
  expect([hasFields(appeal), appeal.problem]).toEqual([
    false,
    expect.stringContaining('cannot be delivered'),
  ]);
  expect((await formsOf(upstream)).map(hasFields)).toEqual([true, true, true]);
  const operator = new Operator(bed);
  await operator.setPanic(true);
  const [issue, reply, change] = await formsOf(upstream);
  expect([issue, reply].map((form) => form && hasFields(form))).toEqual([true, true]);
  expect(change && [hasFields(change), change.problem]).toEqual([
    false,
    'Pushes are suspended at the moment. Try again in 15 minutes.',
  ]);
});
