/**
 * Makes state.tar.gz and facts.json: takes the code of 1.0.0 out of this repository's history,
 * starts its service and its code host, lets people do what README.md lists, and kills the service
 * in the middle of two pushes.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Contributor, type GitRun } from './contributor.ts';
import type { CommentAnswer, Cut, Facts, Opened, Pseudonym } from './facts.ts';

/** The tag v1.0.0, which a clone may lack. */
const VERSION = 'f5894a56';
const ROOT = join(import.meta.dirname, '../../..');
/** Hours (UTC) without midnight in the next seven: after it, a client counts as another one. */
const HOURS = { from: 0.2, to: 16 };
const OWNER = 'octo';
const NAME = 'hello';
const MOST_BYTES = 2 ** 30;
/** The ledger is told of karma five seconds later. */
const LEDGER_MS = 6_000;
const LOOKS = 600;
const LOOK_EVERY_MS = 100;

const SETTINGS = {
  botLogin: 'gitveil-bot',
  botToken: 'the-token-of-the-bot',
  panicPassword: 'the password of the operator',
  adminTopic: 'operator-topic',
  // The state names the bot's account by the host's address. All other tests use higher ports.
  hostPort: 11_100,
};

/** The part of 1.0.0 that is used. Its code never changes, so neither does this. */
interface Version {
  startSandbox(options: object): Promise<Sandbox>;
  startService(options: object): Promise<Service>;
  seedRepository(path: string, now: Date): Promise<void>;
}

interface Sandbox {
  readonly url: string;
  readonly apiUrl: string;
  readonly notifyUrl: string;
  readonly faults: { inject(fault: object): void };
  readonly maintainer: {
    openIssue(owner: string, repo: string, title: string, body: string): number;
    comment(on: { owner: string; repo: string; number: number }, body: string): number;
  };
  createRepository(wanted: object): string;
  repositoryPath(owner: string, name: string): string;
  close(): Promise<void>;
}

interface Service {
  readonly url: string;
  readonly workerdPid: number;
  runScheduled(): Promise<void>;
  dispose(): Promise<void>;
}

const work = mkdtempSync(join(tmpdir(), 'gitveil-state-1.0.0-'));
const code = join(work, 'code');
const saved = join(work, 'saved');

/** Its dependencies are those of this checkout, if they are the same. */
async function checkOut(): Promise<Version> {
  mkdirSync(code);
  const archive = execFileSync('git', ['archive', VERSION], { cwd: ROOT, maxBuffer: MOST_BYTES });
  execFileSync('tar', ['-x'], { cwd: code, input: archive });
  const [theirs, ours] = [code, ROOT].map((folder) =>
    readFileSync(join(folder, 'package-lock.json'), 'utf8'),
  );
  if (theirs === ours) symlinkSync(join(ROOT, 'node_modules'), join(code, 'node_modules'));
  else execFileSync('npm', ['ci'], { cwd: code, stdio: 'inherit' });
  const files = ['sandbox/sandbox.ts', 'local/runtime/service.ts', 'local/runtime/seed.ts'];
  const modules = await Promise.all(
    files.map((file) => import(join(code, file)) as Promise<Partial<Version>>),
  );
  return Object.assign({}, ...modules) as Version;
}

async function saveState(version: Version): Promise<Facts> {
  mkdirSync(join(saved, 'people'), { recursive: true });
  const { botLogin, botToken, hostPort, adminTopic, panicPassword } = SETTINGS;
  const host = { port: hostPort, dir: join(saved, 'host'), botLogin, botToken, forkDelayMs: 20 };
  const sandbox = await version.startSandbox(host);
  try {
    await version.seedRepository(sandbox.createRepository({ owner: OWNER, name: NAME }), new Date());
    sandbox.maintainer.openIssue(OWNER, NAME, 'Say hello in other languages', 'Which?');
    const env = {
      HOSTING_URL: sandbox.url,
      HOSTING_API_URL: sandbox.apiUrl,
      HOSTING_TOKEN: botToken,
      NOTIFY_BASE_URL: sandbox.notifyUrl,
      NOTIFY_ADMIN_TOPIC: adminTopic,
      PANIC_PASSWORD: panicPassword,
    };
    const service = await version.startService({ stateDir: join(saved, 'state'), env });
    try {
      const facts = await new Stories(sandbox, service).tell();
      return { ...SETTINGS, ...facts, savedAt: new Date().toISOString() };
    } finally {
      await service.dispose();
    }
  } finally {
    await sandbox.close();
  }
}

class Stories {
  readonly #sandbox: Sandbox;
  readonly #service: Service;

  constructor(sandbox: Sandbox, service: Service) {
    this.#sandbox = sandbox;
    this.#service = service;
  }

  async tell(): Promise<Omit<Facts, keyof typeof SETTINGS | 'savedAt'>> {
    const ada = await this.#contributor('ada', '198.51.100.101');
    const [updated, withdrawn] = await this.#openFive(ada);
    this.#sandbox.maintainer.comment({ owner: OWNER, repo: NAME, number: updated.number }, 'Thank you!');
    await this.#service.runScheduled();
    const waiting = await this.#delay(await this.#contributor('ben', '198.51.100.102'));
    const { usedToken, unusedToken } = await this.#alert(ada);
    // From here on, no message is delivered.
    this.#sandbox.faults.inject({ path: /^\/ntfy\b/, times: Infinity, answer: { status: 503 } });
    await ada.commit(updated.branch, 'One more');
    await this.#push(ada, updated.branch, `pr-hash=${updated.prHash}`);
    const author = await this.#write('Hello', 'And again');
    const flagged = await this.#write('Buy this', 'Buy that');
    await this.#report(flagged, 3);
    const blocked = await this.#write('Buy me');
    await this.#report(blocked, 6);
    await this.#until('comments are reset and deleted', async () => {
      const texts = await this.#commentTexts();
      const reset = texts.filter((text) => text.includes(`anon-${flagged.hash} · karma (0)`));
      return reset.length === 2 && !texts.some((text) => text.includes(blocked.hash));
    });
    await wait(LEDGER_MS);
    const once = await this.#writeOnce();
    const { total_prs: totalPrs } = await this.#call<{ total_prs: number }>('/api/stats');
    const cuts = await this.#cutTwo(usedToken);
    const people = { author, flagged, blocked, once };
    return { totalPrs, updated, withdrawn, waiting, ...cuts, ...people, usedToken, unusedToken };
  }

  async #contributor(name: string, address: string): Promise<Contributor> {
    const person = new Contributor(join(saved, 'people'), name, address);
    await person.clone(this.#sandbox.repositoryPath(OWNER, NAME));
    return person;
  }

  /** As many as a client may open within an hour. */
  async #openFive(person: Contributor): Promise<[Opened, Opened]> {
    const opened: Opened[] = [];
    for (const branch of ['first', 'second', 'third', 'fourth', 'fifth']) {
      await person.commit(branch, `The ${branch} change`);
      const { stderr } = await this.#push(person, branch);
      const [, number] = found(stderr, /PR URL: .*\/pull\/(\d+)/);
      const [, prHash] = found(stderr, /PR hash: +(\w+)/);
      const [, prKey] = found(stderr, /PR key: +(\w+)/);
      opened.push({ branch, prHash, prKey, number: Number(number) });
    }
    return opened as [Opened, Opened];
  }

  async #delay(person: Contributor): Promise<Facts['waiting']> {
    const branch = 'later';
    await person.commit(branch, 'A change for later');
    const { stderr } = await this.#push(person, branch, 'delay=1h');
    const [path, name] = found(stderr, /\/v1\/delayed\/([0-9a-f]{32})\b/);
    const page = await fetch(this.#service.url + path, { headers: { Accept: 'text/plain' } });
    return { name, branch, page: (await page.text()).split('\n').slice(0, 3) };
  }

  /** The sixth pull request within the hour: the operator is told, with three buttons. */
  async #alert(person: Contributor): Promise<Pick<Facts, 'usedToken' | 'unusedToken'>> {
    await person.commit('sixth', 'The sixth change');
    const { code: exit } = await person.push(this.#repository, 'sixth');
    if (exit === 0) throw new Error('the sixth pull request of an hour was opened');
    const topic = `${this.#sandbox.notifyUrl}/${SETTINGS.adminTopic}/json?poll=1`;
    let message = '';
    await this.#until('the operator is told', async () => {
      message = await (await fetch(topic)).text();
      return message !== '';
    });
    const { actions } = JSON.parse(message) as { actions: { label: string; body: string }[] };
    const tokenOf = (wanted: string): string => {
      const { body = '' } = actions.find(({ label }) => label === wanted) ?? {};
      return (JSON.parse(body) as { token: string }).token;
    };
    return { usedToken: tokenOf('Activate panic'), unusedToken: tokenOf('Deactivate panic') };
  }

  /** Somebody new comments on the issue. */
  async #write(first: string, ...more: string[]): Promise<Pseudonym> {
    let said = await this.#comment({ body: first });
    for (const body of more) said = await this.#comment({ body, user_token: said.user_token });
    return { token: said.user_token, hash: said.hash, karma: said.karma };
  }

  async #writeOnce(): Promise<Facts['once']> {
    const key = 'a-key-that-nobody-else-has';
    const body = 'Once, please';
    return { key, body, answer: await this.#comment({ body }, { 'Idempotency-Key': key }) };
  }

  #comment(payload: object, headers: Record<string, string> = {}): Promise<CommentAnswer> {
    const path = `/v1/gh/${OWNER}/${NAME}/issues/1/comments/anonymous`;
    return this.#call(path, payload, { 'CF-Connecting-IP': '198.51.100.110', ...headers });
  }

  async #report({ hash }: Pseudonym, times: number): Promise<void> {
    for (let reporter = 1; reporter <= times; reporter++)
      await this.#call(
        '/v1/moderation/report',
        { hash },
        { 'CF-Connecting-IP': `198.51.100.${120 + reporter}` },
      );
  }

  async #commentTexts(): Promise<string[]> {
    const url = `${this.#sandbox.apiUrl}/repos/${OWNER}/${NAME}/issues/1/comments`;
    const comments = await (await fetch(url)).json<readonly { body: string }[]>();
    return comments.map(({ body }) => body);
  }

  /**
   * Two pushes that the service never ends. It has sent the branch of the first, and gets no answer
   * when it opens the pull request. That of the second is open, and the answer was lost. Then
   * pushes are suspended, and the service is killed.
   */
  async #cutTwo(panicToken: string): Promise<Pick<Facts, 'cutBefore' | 'cutAfter'>> {
    const never = new Promise(() => {});
    const open = { method: 'POST', path: /\/pulls$/ };
    const before = await this.#contributor('cyd', '198.51.100.103');
    const after = await this.#contributor('dot', '198.51.100.104');
    await before.commit('cut-before', 'Cut off before it is open');
    await after.commit('cut-after', 'Cut off after it is open');

    this.#sandbox.faults.inject({ ...open, until: never });
    const [first, firstHash] = await this.#begin(before, 'cut-before');
    this.#sandbox.faults.inject({ ...open, cut: { during: 'answer', afterBytes: 0 } });
    this.#sandbox.faults.inject({ ...open, method: 'GET', times: Infinity, until: never });
    const threads = await this.#threadCount();
    const [second, secondHash] = await this.#begin(after, 'cut-after');
    await this.#until('its pull request is open', async () => (await this.#threadCount()) > threads);

    await this.#call('/admin/panic', { token: panicToken, active: true });
    process.kill(this.#service.workerdPid, 'SIGKILL');
    await Promise.all([first, second]);
    return {
      cutBefore: { branch: 'cut-before', prHash: firstHash },
      cutAfter: { branch: 'cut-after', prHash: secondHash },
    };
  }

  /** Answers the push, which has not ended, and its pr_hash once its branch is at the host. */
  async #begin(person: Contributor, branch: string): Promise<[Promise<GitRun>, Cut['prHash']]> {
    const known = new Set(this.#workBranches());
    const pushing = person.push(this.#repository, branch);
    let name: string | undefined;
    await this.#until('its branch is there', async () => {
      name = this.#workBranches().find((one) => !known.has(one));
      return name !== undefined;
    });
    // In an array, because a promise would be waited for.
    return [pushing, (name as unknown as string).slice('anon-'.length)];
  }

  #workBranches(): string[] {
    const fork = this.#sandbox.repositoryPath(SETTINGS.botLogin, NAME);
    const args = ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/anon-*'];
    return execFileSync('git', args, { cwd: fork, encoding: 'utf8' }).split('\n').filter(Boolean);
  }

  /** Issues and pull requests: no fault is for this path. */
  async #threadCount(): Promise<number> {
    const url = `${this.#sandbox.apiUrl}/repos/${OWNER}/${NAME}/issues?state=all&per_page=100`;
    const threads = await (await fetch(url)).json<readonly unknown[]>();
    return threads.length;
  }

  get #repository(): string {
    return `${this.#service.url}/v1/gh/${OWNER}/${NAME}`;
  }

  async #push(person: Contributor, branch: string, ...options: string[]): Promise<GitRun> {
    const pushed = await person.push(this.#repository, branch, ...options);
    if (pushed.code !== 0) throw new Error(pushed.stderr);
    return pushed;
  }

  async #call<T>(path: string, payload?: object, headers: Record<string, string> = {}): Promise<T> {
    const response = await fetch(this.#service.url + path, {
      ...(payload && { method: 'POST', body: JSON.stringify(payload) }),
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    for (let look = 0; look < LOOKS; look++) {
      if (await isSo()) return;
      await wait(LOOK_EVERY_MS);
    }
    throw new Error(`waited in vain until ${what}`);
  }
}

/** The match and its group. */
function found(text: string, pattern: RegExp): [string, string] {
  const match = pattern.exec(text);
  if (match?.[1] === undefined) throw new Error(`there is no ${pattern.source} in:\n${text}`);
  return [match[0], match[1]];
}

try {
  const hour = (Date.now() / 3_600_000) % 24;
  if (hour < HOURS.from || hour > HOURS.to)
    throw new Error(`It is too near to midnight (UTC): make it from ${HOURS.from} to ${HOURS.to} o'clock.`);
  const facts = await saveState(await checkOut());
  writeFileSync(join(import.meta.dirname, 'facts.json'), `${JSON.stringify(facts, null, 2)}\n`);
  // Every machine can look inside. Indexes of write-ahead logs are made anew.
  const options = { maxBuffer: MOST_BYTES };
  const tar = execFileSync('tar', ['-c', '--exclude=*-shm', '-C', saved, 'host', 'people', 'state'], options);
  writeFileSync(join(import.meta.dirname, 'state.tar.gz'), gzipSync(tar, { level: 9 }));
} finally {
  rmSync(work, { recursive: true, force: true });
}
