/** Connects the parts for the code host of one request: REST, Git transport, history cache and the real clock. */
import type { Context } from 'hono';
import { systemClock } from '../../isolate/clock.ts';
import { botLogin } from '../../durable/bot-login.ts';
import { shred } from '../../durable/delayed-pushes/shred.ts';
import type { PullRequestState } from '../../durable/pull-request/history.ts';
import { openBackOff, openHostAccess, openTokenWatch } from '../../durable/host-access.ts';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { RepositoryHost } from '../../host/code-host.ts';
import { openRepositories } from '../../host/open.ts';
import { GitTransport } from '../../host/git/git-transport.ts';
import { HOST_TIMEOUT_MS, SmartHttp } from '../../host/git/smart-http.ts';
import { publicAt } from '../../host/git/visibility.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { endOfDay, SealedKv } from '../../secret/sealed-kv.ts';
import { openPolicies } from '../../policy/policies.ts';
import { HistoryCache } from '../../upstream/history-cache.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { HistoryLister } from '../../upstream/history-lister.ts';
import {
  clientWindowsOf,
  delayedPushesOf,
  guardOf,
  pendingPushOf,
  pullRequestOf,
  spoolOf,
} from '../../objects.ts';
import { Spool } from '../../spool/spool.ts';
import type { Admission, DelayedStore, PushHost } from '../../push/push-host.ts';
import type { HistoryHost } from '../../upstream/upstream-host.ts';
import { addWorks, mayBeRecorded, prHashesWith, prHashNear } from '../../stats/recorded-hashes.ts';
import { openLedger } from '../../stats/opened.ts';
import { windowKey } from '../../limits/client.ts';
import { clientOf, memoryFor } from '../request/client.ts';
import { pushAdmission } from './push-admission.ts';

/** Only the Git side: refs and history of public repositories. */
export function historyHost(c: Context<AppEnv>): HistoryHost {
  const memory = memoryFor(c);
  const http = new SmartHttp(c.var.host.url, null, c.var.http);
  return historyHostOf(c, memory, new GitTransport(http, systemClock, memory, null));
}

function historyHostOf(c: Context<AppEnv>, memory: MemoryHold, transport: GitTransport): HistoryHost {
  const secret = () => serviceSecret(c.env, c.var.config.identitySecret);
  const store = new SealedKv(c.env.HISTORY, secret);
  const cache = new HistoryCache(store, (work) => c.executionCtx.waitUntil(work));
  return { memory, transport, lister: new HistoryLister(transport, cache, systemClock), clock: systemClock };
}

function pushTransport(
  c: Context<AppEnv>,
  memory: MemoryHold,
  repositories: RepositoryHost,
  timeoutMs: number,
): GitTransport {
  const { url, apiUrl, token } = c.var.host;
  if (token === null) {
    return new GitTransport(new SmartHttp(url, null, c.var.http, timeoutMs), systemClock, memory, null);
  }
  const account = {
    token,
    backOff: openBackOff(c.env, c.var.host),
    tokenWatch: openTokenWatch(c.env, c.var.config, c.var.host),
  };
  const http = new SmartHttp(url, account, c.var.http, timeoutMs);
  return new GitTransport(http, systemClock, memory, publicAt(repositories, apiUrl, systemClock));
}

export interface PushHostOptions {
  /** How long Git's requests to the host may wait for an answer. */
  readonly timeoutMs?: number;
  /** Default: that of the request's client. */
  readonly memory?: MemoryHold;
  /** Default: that of the request's client. */
  readonly admission?: Admission;
}

export function pushHost(c: Context<AppEnv>, options: PushHostOptions = {}): PushHost {
  const { config, host, http } = c.var;
  const { timeoutMs = HOST_TIMEOUT_MS, memory = memoryFor(c), admission = pushAdmission(c) } = options;
  const repositories = openRepositories(openHostAccess(c.env, config, host, http));
  const secret = () => serviceSecret(c.env, config.identitySecret);
  return {
    hostKey: host.key,
    ...historyHostOf(c, memory, pushTransport(c, memory, repositories, timeoutMs)),
    repositories,
    admission,
    openSpool: () =>
      new Spool({
        open: (attempt) => spoolOf(c.env, attempt),
        memory,
        client: memory.client,
        mostBytes: config.spoolMb * 1_000_000,
        clock: systemClock,
      }),
    connectAhead: (step) =>
      step === 'push' ? http.openAhead(host.url, { isForStream: true }) : http.openAhead(host.apiUrl),
    botLogin: (isQuiet) => botLogin(c.env, config, host, http, isQuiet),
    policy: (repository, looked) =>
      openPolicies(c.env, config, host, c.var.logger, http).of(repository, { looked, isUrgent: true }),
    secret,
    pendingPush: (hash) => pendingPushOf(c.env, hash),
    async isOpen(prHash) {
      if (!(await mayBeRecorded(c.env.DB, prHash, c.var.logger))) return false;
      const view = pullRequestOf(c.env, prHash).view();
      return view.then((known) => known?.state === 'open' && known.host === host.key).catch(() => true);
    },
    mayBeRecorded: (prHash) => mayBeRecorded(c.env.DB, prHash, c.var.logger),
    async pullRequestWith(repository, works) {
      const found = await guessed(c, prHashesWith(c.env.DB, recordName(host, repository), works));
      if (found === null) return undefined;
      const views = await Promise.all(
        found.map(async ({ prHash, last }) => {
          const view = await shown(c, prHash);
          return view && { prHash, url: view.url, state: view.state, last };
        }),
      );
      const known = views.filter((view) => view !== null);
      const inState = (wanted: PullRequestState) => known.find(({ state }) => state === wanted);
      return inState('open') ?? inState('merged') ?? known[0] ?? null;
    },
    addWorks: async (prHash, works) => void (await guessed(c, addWorks(c.env.DB, prHash, works))),
    async openNear(repository, prHash) {
      const near = await guessed(c, prHashNear(c.env.DB, recordName(host, repository), prHash));
      const view = near === null ? null : await shown(c, near);
      return view?.state === 'open' ? view : null;
    },
    delayed: delayedStore(c),
    async isKnownRepository({ owner, name: repo }) {
      try {
        // Not the badge's count, which may be minutes old.
        const ledger = openLedger(c.env, config, http);
        return (await ledger.pullRequestCount({ host: host.key, owner, repo })) > 0;
      } catch (error) {
        c.var.logger.warn('the ledger does not answer', { error });
        return false;
      }
    },
    pullRequest: (prHash) => pullRequestOf(c.env, prHash),
  };
}

/** Only for a hint to a person: null if nobody answers. */
function guessed<T>({ var: { logger } }: Context<AppEnv>, answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    logger.warn('a pull request that may be meant could not be looked up', { error });
    return null;
  });
}

/** Nobody is told of a pull request before the host shows it. */
async function shown(c: Context<AppEnv>, prHash: string) {
  const view = await guessed(c, pullRequestOf(c.env, prHash).view());
  return view?.isShown ? view : null;
}

function delayedStore(c: Context<AppEnv>): DelayedStore {
  const delayedPushes = () => delayedPushesOf(c.env);
  return {
    find: (push) => delayedPushes().find(push),
    move: (name, window) => delayedPushes().move(name, window),

    async keep(delayed, { key, ...spool }, keptUntil) {
      // An IPv6 /48 is one: else its 65,536 networks could fill all room.
      const client = windowKey(await clientOf(c), true);
      const tag = await clientWindowsOf(c.env, client).tag(client);
      let isKept = false;
      try {
        // Before the row: a push never waits without its key.
        await c.env.DELAYED_KEYS.put(spool.attempt, key, { expiration: endOfDay(keptUntil) });
        const kept = { ...delayed, host: c.var.host.key, client: tag, spool };
        const answer = await delayedPushes().keep(kept, c.var.config.delayedMb * 1_000_000);
        isKept = answer.kind === 'kept';
        if (isKept && delayed.reason === 'review') c.executionCtx.waitUntil(tellOperator());
        return answer;
      } finally {
        // The person is told that nothing was kept. If the answer was lost, it may wait all the same.
        if (!isKept && !(await mayWait(delayed.name)))
          await shred(c.env, spool.attempt).catch((error: unknown) =>
            c.var.logger.error('what is not kept of a push could not be removed', { error }),
          );
      }
    },
  };

  /** True if nobody knows. */
  function mayWait(name: string): Promise<boolean> {
    return delayedPushes()
      .view(name)
      .then(
        (view) => view !== null,
        () => true,
      );
  }

  /** Never rejects: the push waits, whether or not the operator is told. */
  async function tellOperator(): Promise<void> {
    try {
      await guardOf(c.env).toReview((await delayedPushes().counts()).waiting.review);
    } catch (error) {
      c.var.logger.error('the operator could not be told of a delayed push', { error });
    }
  }
}
