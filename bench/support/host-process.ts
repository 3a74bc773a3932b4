/** Runs the code host of one rig in a process of its own. */
import { copyIntoFork } from '../../sandbox/bare-repository.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { commit, fastImport } from './fast-import.ts';
import { answerQuestions } from './helper.ts';

export interface HostAddresses {
  readonly url: string;
  readonly apiUrl: string;
  readonly notifyUrl: string;
  readonly botLogin: string;
  readonly botToken: string;
}

let sandbox: Sandbox | null = null;

const actions = {
  async start(): Promise<HostAddresses> {
    sandbox = await startSandbox({ capture: 'nothing', forkDelayMs: 0, callsAnHour: 1_000_000 });
    const { url, apiUrl, notifyUrl, botLogin, botToken } = sandbox;
    return { url, apiUrl, notifyUrl, botLogin, botToken };
  },

  /** Makes a repository with the content of the bare one at `source`. */
  async addRepository({
    owner,
    name,
    source,
  }: {
    owner: string;
    name: string;
    source: string;
  }): Promise<null> {
    if (sandbox === null) throw new Error('the code host has not been started');
    copyIntoFork(source, sandbox.createRepository({ owner, name }));
    return null;
  },

  /** Adds a commit to a repository's main. */
  async addCommit({ owner, name }: { owner: string; name: string }): Promise<null> {
    if (sandbox === null) throw new Error('the code host has not been started');
    const ref = 'refs/heads/main';
    const at = Math.floor(Date.now() / 1000);
    const message = 'Go on upstream\n';
    await fastImport(sandbox.repositoryPath(owner, name), [
      commit({ ref, from: `${ref}^0`, at, message, files: [['upstream.txt', `${at} ${Math.random()}\n`]] }),
    ]);
    return null;
  },
};

export type HostActions = typeof actions;

answerQuestions(actions, async () => {
  await sandbox?.close();
});
