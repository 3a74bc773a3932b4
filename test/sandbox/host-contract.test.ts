/** The embedded code host keeps the promises of the host's interface, as GitHub does. */
import { afterAll, beforeAll } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { Upstream } from '../e2e/support/upstream.ts';
import { ACCOUNT } from '../host/support/back-off.ts';
import { hostContract } from '../host/contract/contract.ts';
import type { ContractHost, ContractRepository } from '../host/contract/contract-host.ts';
import { HASTY_CLOCK, NODE_HTTP, unique } from '../host/contract/world.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ forkDelayMs: 20 });
});
afterAll(() => sandbox.close());

const createRepository: ContractHost['createRepository'] = async (wanted = {}) => {
  const { maintainer, url } = sandbox;
  const { owner = 'mona', name: firstName = unique('hello') } = wanted;
  let repo = firstName;
  const path = sandbox.createRepository({ owner, name: repo });
  const upstream = new Upstream({ owner, name: repo, defaultBranch: 'main', path, url });
  await upstream.grow({ count: 3 });
  const on = (number: number) => ({ owner, repo, number });
  return {
    name: { owner, name: repo },
    upstream,
    async comment(number, text) {
      maintainer.comment(on(number), text);
    },
    async review(number, text) {
      maintainer.review(on(number), 'COMMENTED', text);
    },
    async remark(number, file, body) {
      maintainer.review(on(number), 'COMMENTED', '', undefined, [{ path: file, body }]);
    },
    async lock(number) {
      maintainer.lock(on(number));
    },
    async merge(number) {
      await maintainer.merge(on(number));
    },
    async takePrivateReports() {
      maintainer.takePrivateReports(owner, repo, true);
    },
    async rename(name) {
      maintainer.renameRepository(owner, repo, name);
      repo = name;
    },
  } satisfies ContractRepository;
};

hostContract('fork', (): ContractHost => ({
  access: {
    kind: 'github',
    apiUrl: sandbox.apiUrl,
    token: sandbox.botToken,
    http: NODE_HTTP,
    clock: HASTY_CLOCK,
    ...ACCOUNT,
  },
  url: sandbox.url,
  botLogin: sandbox.botLogin,
  pageSize: 100,
  createRepository,
  async textOf({ owner, name }, number) {
    const headers = { authorization: `token ${sandbox.botToken}` };
    const answer = await fetch(`${sandbox.apiUrl}/repos/${owner}/${name}/issues/${number}`, { headers });
    return (await answer.json<{ body: string }>()).body;
  },
}));
