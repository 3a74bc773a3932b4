/** Text that `npm start` prints once the service answers: its address, and commands to paste. */
import type { Config } from '../../src/config/config.ts';
import { type HostConfig, tokenVariable } from '../../src/config/hosts.ts';
import { MAINTAINER_PASSWORD } from './embedded-host.ts';
import { SEED } from './seed.ts';

/** Writes the text for a service whose code host is the embedded one. */
export function sandboxWelcome(serviceUrl: string, hostUrl: string, stateDir: string): string {
  const { owner, name } = SEED;
  const open = process.platform === 'darwin' ? 'open' : 'xdg-open';
  return `
gitveil is running.

  service    ${serviceUrl}
  code host  ${hostUrl}  (embedded: HOSTING_TOKEN is not set)

Try it in another terminal:

  git clone ${serviceUrl}/v1/gh/${owner}/${name}
  cd ${name}
  git switch -c my-change
  echo 'Hello from nobody.' >> README.md
  git -c user.name='Ada Lovelace' -c user.email=ada@example.org commit -am 'Greet from nobody'
  git push origin my-change
  ${open} ${hostUrl}/${owner}/${name}

That page lists the pull request. The bot is its author, and nothing in it names Ada. On its own page you can
comment on it, review, merge or close it as the maintainer. With Git, the maintainer pushes to

  ${maintainerRemote(hostUrl)}

for example a .gitveil.yml, which says what the repository accepts (docs/maintainers.md). A change of it counts
within five minutes. If a limit stops you, such as five pull requests an hour, press the button "Forget the limits
of this machine" on the first page of the code host.
State is kept in ${stateDir}. Press Ctrl-C to stop.`;
}

function maintainerRemote(hostUrl: string): string {
  const { owner, name } = SEED;
  return hostUrl.replace('://', `://${owner}:${MAINTAINER_PASSWORD}@`) + `/${owner}/${name}`;
}

type Told = Pick<Config, 'serviceUrl' | 'isServiceUrlGiven' | 'hosts' | 'stateDir'>;

/**
 * Writes the text for a service in front of real code hosts, at least one of which has a token.
 * @param url the address on which it listens.
 */
export function welcome(url: string, { isServiceUrlGiven, hosts, stateDir, ...config }: Told): string {
  const serviceUrl = isServiceUrlGiven ? config.serviceUrl : url;
  const lines = hosts.map(({ key, url: hostUrl, token }) => {
    const limit = token === null ? `, to fetch only: ${tokenVariable(key)} is not set` : '';
    return `code host  ${hostUrl}  (${serviceUrl}/v1/${key}/<owner>/<repo>${limit})`;
  });
  const { key } = hosts.find(({ token }) => token !== null) as HostConfig;
  return `
gitveil is running.

  service    ${serviceUrl}${isServiceUrlGiven ? `  (on this machine: ${url})` : ''}
  ${lines.join('\n  ')}

In a clone of <owner>/<repo>:

  git push ${serviceUrl}/v1/${key}/<owner>/<repo> my-branch

State is kept in ${stateDir}. Press Ctrl-C to stop.`;
}
