/**
 * A push of one commit to a real Gitea that opens a pull request: through the service, and
 * straight, by a client with the bot's token. Skipped where this machine cannot build Gitea.
 */
import { builtWorker } from '../support/rig.ts';
import { branchOfCommits } from '../support/histories.ts';
import { fastImport } from '../support/fast-import.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { clientOf, git, timedGit } from '../support/git.ts';
import { Helper } from '../support/helper.ts';
import type { HostActions } from '../support/host-process.ts';
import { lineOfCommits } from '../support/repositories.ts';
import type { ServiceActions } from '../support/service-process.ts';
import type { Workspace } from '../support/workspace.ts';
import { type GiteaAddress, MAINTAINER, startGitea } from '../../test/forgejo/support/gitea.ts';
import { giteaProgram } from '../../test/forgejo/support/gitea-build.ts';

const ROUNDS = 21;
const MOST_TIMES = 1.3;
const NAME = 'bench';
const POLL_MS = 50;

export async function giteaPush(workspace: Workspace): Promise<Row[]> {
  const program = await giteaProgram();
  if (program.kind === 'missing') {
    process.stderr.write(`skipped, because there is no Gitea: ${program.reason} ... `);
    return [];
  }
  const server = await startGitea(program);
  const gitea = server.address;
  const notifications = new Helper<HostActions>(`${import.meta.dirname}/../support/host-process.ts`);
  const service = new Helper<ServiceActions>(`${import.meta.dirname}/../support/service-process.ts`);
  try {
    const { notifyUrl } = await notifications.ask('start', null);
    const env = {
      HOSTS: `my=gitea:${gitea.url}`,
      HOSTING_TOKEN_MY: gitea.botToken,
      NOTIFY_BASE_URL: notifyUrl,
      LIMIT_CREATIONS: '10000/1h',
      LIMIT_CALLS: '10000/1h',
      LIMIT_TARGET: '10000/1h',
      LIMIT_THREAD: '10000/1h',
      LIMIT_DISCOVERIES: '10000/1m',
    };
    const { url } = await service.ask('start', { build: await builtWorker(workspace), env });
    const client = await readyClient(workspace, gitea);
    const straight = withToken(gitea, gitea.botToken);
    let pushes = 0;
    const through = (branch: string): Promise<number> => {
      const address = `CF-Connecting-IP: 10.0.0.${++pushes}`;
      const remote = `${url}/v1/my/${MAINTAINER}/${NAME}`;
      return timedGit(client, ['-c', `http.extraHeader=${address}`, 'push', remote, refspec(branch)]);
    };
    const measured = await medians(ROUNDS, {
      service: (round) => through(`service-${round}`),
      straight: (round) => {
        const options = [`topic=straight-${round}`, 'title=Work', 'description=It works.'];
        const words = options.flatMap((option) => ['-o', option]);
        return timedGit(client, ['push', ...words, straight, `refs/heads/straight-${round}:refs/for/main`]);
      },
    });
    return [
      row({
        name: 'gitea: one-commit push with its pull request',
        value: measured.service,
        reference: measured.straight,
        goal: MOST_TIMES,
        unit: 'ms',
      }),
    ];
  } finally {
    await service.end();
    await notifications.end();
    await server.stop();
  }
}

/** A client's repository with the branches to push; upstream is on Gitea. */
async function readyClient(workspace: Workspace, gitea: GiteaAddress): Promise<string> {
  const { source } = await lineOfCommits(workspace, 10);
  const client = await clientOf(source, workspace.folder('gitea-client'));
  await fastImport(client, branches());
  const upstream = `/repos/${MAINTAINER}/${NAME}`;
  await call(gitea, gitea.maintainerToken, 'POST', '/user/repos', { name: NAME, default_branch: 'main' });
  await git(client, ['push', withToken(gitea, gitea.maintainerToken), refspec('main')]);
  // Gitea takes note of the first push in the background.
  while (((await call(gitea, gitea.maintainerToken, 'GET', upstream)) as { empty: boolean }).empty) {
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return client;
}

async function call(
  { apiUrl }: GiteaAddress,
  token: string,
  method: string,
  path: string,
  payload?: object,
): Promise<unknown> {
  const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
  const body = payload === undefined ? null : JSON.stringify(payload);
  const answer = await fetch(apiUrl + path, { method, headers, body });
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}`);
  return answer.json();
}

function withToken({ url }: GiteaAddress, token: string): string {
  return `${url.replace('//', `//x-access-token:${token}@`)}/${MAINTAINER}/${NAME}.git`;
}

const refspec = (branch: string): string => `refs/heads/${branch}:refs/heads/${branch}`;

function* branches(): Generator<string> {
  for (let round = 0; round <= ROUNDS; round++) {
    yield* branchOfCommits(`service-${round}`, 1, 2 * round);
    yield* branchOfCommits(`straight-${round}`, 1, 2 * round + 1);
  }
}
