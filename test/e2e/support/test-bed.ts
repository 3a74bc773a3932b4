/**
 * The service in workerd, the code host beside it, and the tripwire under every test.
 *
 * A test file says `useTestBed()` at its top. All files that do share the bed of their process,
 * because a start takes longer than most tests; each of them sees an empty host. A file that needs
 * options, restarts the service or makes the host fail says `useOwnTestBed()`: what the service
 * remembers of that would reach the next file. Every test has fresh repositories and persons. After
 * each test whatever reached the host is searched, and the log for secrets of the operator; after
 * the last one of a file Git checks the forks. A test cannot leave that out.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import type { WorkerBuild } from '../../../local/deploy/build.ts';
import { type Service, startService } from '../../../local/runtime/service.ts';
import type { NewRepository } from '../../../sandbox/host.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { freePorts } from '../../support/free-ports.ts';
import { builtWorker } from './built-worker.ts';
import { HostView, MAINTAINER_PASSWORD } from './host-view.ts';
import { Person } from './person.ts';
import { type Leak, Tripwire } from './tripwire.ts';
import { Upstream } from './upstream.ts';
import { verdictOf } from './verdict-line.ts';

const MAX_SHOWN_LEAKS = 15;

/**
 * Put before the Worker: its pauses between attempts (src/host/failure.ts) take a fortieth of their
 * time. How long they are, test/host proves by a clock; here, tests would only sit through them.
 */
const SHORT_PAUSES = `const scheduler = {
  wait: (ms, options) => globalThis.scheduler.wait(ms === 200 || ms === 800 ? ms / 40 : ms, options),
};
`;

export interface TestBedOptions {
  /** Variables of the service besides those that lead it to the code host. */
  readonly env?: Readonly<Record<string, string>>;
  /** An empty folder where the service keeps its state. Default: one that is deleted with it. */
  readonly stateDir?: string;
  /** The path of workerd. Default: the package's. */
  readonly program?: string;
  /** Default: 20. */
  readonly forkDelayMs?: number;
  /** Scopes of the bot's token. Default: all that it needs. */
  readonly botScopes?: readonly string[];
  /** Calls that the host lets the bot make. Default: GitHub's. */
  readonly callsAnHour?: number;
  /** The code host's clock. Default: this machine's. */
  readonly now?: () => Date;
  /**
   * False: a scheduled run moves no time, as in production. Default: it does, for delayed pushes.
   */
  readonly isTriggerClock?: boolean;
  /** Makes another build of the Worker's. */
  readonly rebuild?: (build: WorkerBuild) => Promise<WorkerBuild>;
}

export interface UpstreamOptions extends Partial<NewRepository> {
  /** Commits on the default branch; default 3. 0: an empty repository. */
  readonly commits?: number;
}

/** By the service, outside its answers. */
interface Told {
  readonly logLines: string[];
  readonly verdicts: Buffer[];
  readonly fetches: string[];
  /** Lines of the log that have a secret of the operator. */
  readonly betrayals: string[];
}

/** Variables that the operator tells nobody. */
const SECRET_VARIABLE = /_(?:KEY|PASSWORD|SECRET|TOKEN)$/;

/** The secrets among variables; of a key in several lines, the longest line. */
function secretsIn(env: Variables): string[] {
  const values = Object.entries(env).flatMap(([name, value]) => (SECRET_VARIABLE.test(name) ? [value] : []));
  const lines = values.map((value) => value.split('\n').toSorted((a, b) => b.length - a.length)[0] ?? '');
  return lines.filter((line) => line !== '');
}

type Variables = Readonly<Record<string, string>>;

export class TestBed {
  readonly sandbox: Sandbox;
  service: Service;
  host: HostView;
  tripwire: Tripwire;
  /** Where the service keeps its state. */
  readonly stateDir: string;
  readonly #told: Told;
  /** The folder is to be deleted with the bed. */
  readonly #isOwnState: boolean;
  readonly #startOn: (port: number, env?: Variables) => Promise<Service>;
  readonly #persons: Person[] = [];
  #personCount = 0;
  #upstreamCount = 0;

  private constructor(
    sandbox: Sandbox,
    service: Service,
    state: { readonly dir: string; readonly isOwn: boolean },
    told: Told,
    startOn: (port: number, env?: Variables) => Promise<Service>,
  ) {
    this.stateDir = state.dir;
    this.#isOwnState = state.isOwn;
    this.#startOn = startOn;
    this.sandbox = sandbox;
    this.service = service;
    this.#told = told;
    this.host = new HostView(sandbox);
    this.tripwire = new Tripwire(sandbox, told.logLines, told.verdicts);
  }

  /** Lines that the service has logged so far, for this file of tests. */
  get logLines(): readonly string[] {
    return this.#told.logLines;
  }

  /** The bytes of the verdicts so far, if the Worker tells them: stored-worker.ts. */
  get verdicts(): Buffer[] {
    return this.#told.verdicts;
  }

  /**
   * Addresses that the Worker has asked for by the runtime's `fetch`, which adds headers of its
   * own.
   */
  get fetches(): string[] {
    return this.#told.fetches;
  }

  static async start(options: TestBedOptions): Promise<TestBed> {
    const build = builtWorker();
    await awayFromMidnight();
    const {
      forkDelayMs = 20,
      callsAnHour,
      botScopes,
      now,
      rebuild = async (own: WorkerBuild) => own,
    } = options;
    const sandbox = await startSandbox({
      capture: 'bodies',
      forkDelayMs,
      maintainerPassword: MAINTAINER_PASSWORD,
      ...(callsAnHour && { callsAnHour }),
      ...(botScopes && { botScopes }),
      ...(now && { now }),
    });
    const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), 'gitveil-state-'));
    const state = { dir: stateDir, isOwn: options.stateDir === undefined };
    // Migrating a database of its own would take each file longer than its first test.
    cpSync(inject('newState'), stateDir, { recursive: true });
    const told: Told = { logLines: [], verdicts: [], fetches: [], betrayals: [] };
    const whole = await rebuild(build);
    const startOn = (port: number, more: Variables = {}): Promise<Service> => {
      const env = { ...variablesFor(sandbox), ...options.env, ...more };
      const secrets = secretsIn(env);
      return startService({
        port,
        build: { ...whole, script: SHORT_PAUSES + whole.script, migrations: [] },
        env,
        stateDir,
        isTriggerClock: options.isTriggerClock ?? true,
        ...(options.program !== undefined && { program: options.program }),
        writeLog: (line) => {
          const verdict = verdictOf(line);
          if (verdict === null) told.logLines.push(line);
          else told.verdicts.push(verdict);
          if (secrets.some((secret) => line.includes(secret))) told.betrayals.push(line);
        },
        onFetch: (request) => told.fetches.push(request),
      });
    };
    // It stays its own while it does not run, for a restart.
    return new TestBed(sandbox, await startOn(await freePorts()), state, told, startOn);
  }

  /** A repository upstream, by default a new one with three commits of the last month on `main`. */
  async createUpstream(wanted: UpstreamOptions = {}): Promise<Upstream> {
    this.#upstreamCount += 1;
    const { commits = 3, ...facts } = wanted;
    const owner = facts.owner ?? 'octo';
    const name = facts.name ?? `hello${this.#upstreamCount}`;
    const defaultBranch = facts.defaultBranch ?? 'main';
    const path = this.sandbox.createRepository({ ...facts, owner, name });
    const upstream = new Upstream({ owner, name, defaultBranch, path, url: this.remoteUrl(owner, name) });
    if (commits > 0) await upstream.grow({ count: commits });
    this.tripwire.addUpstream(upstream);
    return upstream;
  }

  /** Gives a repository another name; what is left of the old one redirects. */
  renameUpstream(upstream: Upstream, name: string): Upstream {
    const { owner, defaultBranch } = upstream;
    this.sandbox.maintainer.renameRepository(owner, upstream.name, name);
    const path = this.sandbox.repositoryPath(owner, name);
    const renamed = new Upstream({ owner, name, defaultBranch, path, url: this.remoteUrl(owner, name) });
    this.tripwire.addUpstream(renamed);
    return renamed;
  }

  /** The address that a person pushes to. */
  remoteUrl(owner: string, name: string): string {
    return `${this.service.url}/v1/gh/${owner}/${name}`;
  }

  /** Someone with a Git client and a network address of their own. */
  person(): Person {
    const count = this.#personCount++;
    // Three digits at the end: no address is the beginning of another's. 198.18.0.0/15 is for tests
    // (RFC 2544).
    const person = new Person(`198.18.${100 + Math.floor(count / 150)}.${100 + (count % 150)}`);
    this.#persons.push(person);
    this.tripwire.addPerson(person);
    return person;
  }

  /**
   * Fails if anything of a person reached the host since the last time, or a secret of the operator
   * the log.
   */
  async verify(): Promise<void> {
    this.sandbox.faults.clear();
    await this.host.settle();
    const fetches = this.fetches.splice(0);
    if (fetches.length > 0) throw new Error(`the runtime's fetch was used: ${fetches.join(', ')}`);
    const betrayals = this.#told.betrayals.splice(0);
    if (betrayals.length > 0)
      throw new Error(`the log has a secret of the operator: ${betrayals.join('; ')}`);
    const leaks = await this.tripwire.check();
    if (leaks.length > 0) throw new Error(`${leaks.length} leaks to the host:\n${describeAll(leaks)}`);
  }

  /**
   * Ends workerd as `kill -9` does, and starts the service again on the same state. It remembers
   * nothing else.
   * @param between what is done while it does not run.
   * @param env variables that it gets until the next restart.
   */
  async restart(between = (): void => {}, env: Variables = {}): Promise<void> {
    const { port } = new URL(this.service.url);
    process.kill(this.service.workerdPid, 'SIGKILL');
    await this.service.dispose();
    between();
    this.service = await this.#startOn(Number(port), env);
  }

  /**
   * Forgets what one file of tests has done, so that the next one sees an empty host. The service
   * goes on.
   */
  clear(): void {
    this.#removePersons();
    this.sandbox.clear();
    for (const lines of Object.values(this.#told) as unknown[][]) lines.length = 0;
    this.host = new HostView(this.sandbox);
    this.tripwire = new Tripwire(this.sandbox, this.#told.logLines, this.#told.verdicts);
  }

  async stop(): Promise<void> {
    await this.service.dispose();
    await this.sandbox.close();
    this.#removePersons();
    if (this.#isOwnState) rmSync(this.stateDir, { recursive: true });
  }

  #removePersons(): void {
    for (const person of this.#persons.splice(0)) person.remove();
  }
}

/** The variables that lead the service to the code host, and let tests push as often as they do. */
function variablesFor({ url, apiUrl, botToken, notifyUrl }: Sandbox): Variables {
  return {
    HOSTING_URL: url,
    HOSTING_API_URL: apiUrl,
    HOSTING_TOKEN: botToken,
    NOTIFY_BASE_URL: notifyUrl,
    // A test file opens pull requests faster than people do. How the limit works:
    // bot-account.test.ts.
    LIMIT_CREATIONS: '10000/1h',
    LIMIT_CALLS: '10000/1h',
    LIMIT_TARGET: '10000/1h',
    LIMIT_THREAD: '10000/1h',
    // How a push waits with its warnings: warning-wait.test.ts.
    WARNING_WAIT: '0s',
  };
}

function describeAll(leaks: readonly Leak[]): string {
  const lines = leaks.slice(0, MAX_SHOWN_LEAKS).map(describe);
  if (leaks.length > MAX_SHOWN_LEAKS) lines.push(`- and ${leaks.length - MAX_SHOWN_LEAKS} more`);
  return lines.join('\n');
}

function describe({ secret, where, context }: Leak): string {
  return `- ${secret.kind} "${secret.text}" in ${where}: ${context}`;
}

/** More than all files together make. */
const CALLS_OF_ALL_FILES = 1_000_000;

/** The bed of this process. Its folders and its workerd go with the process. */
let shared: Promise<TestBed> | null = null;

/** Gives this file the bed of its process, and puts the tripwire under each of its tests. */
export function useTestBed(): TestBed {
  return useBed(
    () => (shared ??= TestBed.start({ callsAnHour: CALLS_OF_ALL_FILES })),
    async (bed) => bed.clear(),
  );
}

/** Gives this file a bed of its own, and puts the tripwire under each of its tests. */
export function useOwnTestBed(options: TestBedOptions = {}): TestBed {
  return useBed(
    () => TestBed.start(options),
    (bed) => bed.stop(),
  );
}

function useBed(open: () => Promise<TestBed>, leave: (bed: TestBed) => Promise<void>): TestBed {
  let bed: TestBed | null = null;
  beforeAll(async () => {
    bed = await open();
  });
  beforeEach(awayFromMidnight);
  afterEach(() => bed?.verify());
  afterAll(async () => {
    // Once more: for what the service did after the last answer.
    try {
      await bed?.verify();
      await bed?.host.checkForks();
    } finally {
      if (bed !== null) await leave(bed);
      // The modules of all files stay loaded. What the host has captured should not: each program
      // would start slower.
      bed = null;
    }
  });
  // Tests are written before the bed is started; they get to see it once it is.
  return new Proxy({} as TestBed, {
    get: (_, property) => {
      if (bed === null) throw new Error('the test bed is not started yet');
      const value: unknown = Reflect.get(bed, property, bed);
      return typeof value === 'function' ? value.bind(bed) : value;
    },
  });
}
