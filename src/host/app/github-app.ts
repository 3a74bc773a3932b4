/**
 * A GitHub App at its host: who it is, where it is installed, and the tokens by which it writes
 * there. All of it is in the memory of the isolate only. Nothing is retried, because whoever writes
 * can go on without the App.
 */
import { isAhead, isWithin } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { HostError, hostFailureOf, unlessMissing } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { type HostAnswer, hostTime } from '../failure.ts';
import type { Account } from '../code-host.ts';
import { expectLogin, expectNumber, expectStatus, expectText } from '../rest/answer.ts';
import { lookUpRepository, placeOf } from '../rest/reads.ts';
import { type DataOf, Rest, type RestAccess } from '../rest/rest.ts';
import type { AppKey } from './app-key.ts';

/** The App of the operator. */
export interface AppSettings {
  readonly id: number;
  readonly key: AppKey;
}

/** A repository's installation of the App. */
export interface Installation {
  readonly id: number;
  readonly isSuspended: boolean;
  /** False if it lacks a permission that writing takes. */
  readonly mayWrite: boolean;
  /** True if it may report vulnerabilities. */
  readonly mayReport: boolean;
}

/**
 * How an App is missing where it was installed. `removed`: maintainers have removed it, and have
 * said nothing since. `doubted`: the host has said so for the first time, which may be a fault.
 */
export type AppAbsence = 'removed' | 'doubted';

/** An App's standing in a repository. Null: it was never installed. */
export type AppStanding = Installation | AppAbsence | null;

/**
 * Notes the installation of a repository, by its number; null: there is none. Answers how it is
 * missing; null: nothing is.
 */
export type NoteInstalled = (
  repository: RepositoryName,
  installation: number | null,
) => Promise<AppAbsence | null>;

/**
 * The permissions of tokens, by what they are for. All installations have `metadata`. The types do
 * not know `repository_advisories`, which docs.github.com/rest lists ("Permissions required for
 * GitHub Apps").
 */
const NEEDED = {
  writing: { issues: 'write', pull_requests: 'write', metadata: 'read' },
  reporting: { repository_advisories: 'write', metadata: 'read' },
} as const;
type Purpose = keyof typeof NEEDED;
const INSTALLATION = 'GET /repos/{owner}/{repo}/installation';
const NEW_TOKEN = 'POST /app/installations/{installation_id}/access_tokens';

/** Somebody waits, and whoever writes can go on without the App. */
const HABITS = { timeoutMs: 10_000 } as const;

const MINUTE_MS = 60_000;
const INSTALLED_LIFE_MS = 60 * MINUTE_MS;
const OTHER_LIFE_MS = 5 * MINUTE_MS;
/** The life of a token at GitHub, and how long before its end it is not used any more. */
const TOKEN_LIFE_MS = 60 * MINUTE_MS;
const SPARE_MS = 5 * MINUTE_MS;
/**
 * How long the host may take until it knows a new token and its permissions everywhere:
 * octokit/auth-app.js#65 and #589.
 */
export const TOKEN_LAG_MS = 3_000;
/** The difference from which a clock, and not the key, may be why a token was refused. */
const LEAST_SKEW_MS = 30_000;

interface Looked {
  readonly standing: AppStanding;
  /** The time in milliseconds since 1970. */
  readonly at: number;
}

interface Token {
  readonly text: string;
  /** Milliseconds since 1970, by the host's clock. */
  readonly endsAt: number;
  /** When it was made, by this clock. */
  readonly madeAt: number;
}

/** Matches GitHub's answer to a key whose App is gone: actions/create-github-app-token#76. */
const GONE = /^integration not found/i;

/** Installations by repository, and tokens by installation and repository. */
const looked = new Recent<Looked>({ most: 5_000 });
const tokens = new Recent<Token>({ most: 1_000 });
/** By App: its account, and how far the host's clock is ahead in milliseconds. */
const accounts = new Recent<Account>({ lifeMs: INSTALLED_LIFE_MS, most: 100 });
const skews = new Recent<number>({ most: 100 });
/** That the host has not answered an App: everybody would wait for ten seconds otherwise. */
const silences = new Recent<HostError>({ lifeMs: 30_000, most: 100 });

export class GitHubApp {
  readonly id: number;
  readonly #key: AppKey;
  /** Asks as the App, and as the account. */
  readonly #rest: Rest;
  readonly #public: Rest;
  readonly #name: string;
  readonly #note: NoteInstalled;

  /**
   * @param access the account's.
   * @param limits of the App itself: its pauses, its calls, and who hears that its key is refused.
   */
  constructor(
    { id, key }: AppSettings,
    access: RestAccess,
    limits: Pick<RestAccess, 'backOff' | 'callMeter' | 'tokenWatch'>,
    note: NoteInstalled,
  ) {
    this.id = id;
    this.#key = key;
    const observe = (answer: HostAnswer) => {
      this.#learnTime(answer);
      limits.tokenWatch.observe(GONE.test(answer.text) ? { ...answer, status: 401 } : answer);
    };
    const tokenWatch = { observe };
    this.#rest = new Rest({ ...access, ...limits, tokenWatch, token: '', app: id }, HABITS);
    this.#public = new Rest(access, HABITS);
    this.#name = `${access.apiUrl} ${id}`;
    this.#note = note;
  }

  /** Reads the account in whose name the App writes: `<slug>[bot]`. @throws HostError */
  async account(): Promise<Account> {
    const known = accounts.get(this.#name, this.#now());
    if (known !== null) return known;
    const slug = await this.#asApp(async (headers) => {
      const { data } = await this.#rest.call('GET /app', {}, headers);
      return expectText(data?.slug);
    });
    const { data } = await this.#public.call('GET /users/{username}', { username: `${slug}[bot]` });
    const account = { id: expectNumber(data.id), login: expectLogin(data.login) };
    accounts.set(this.#name, account, this.#now());
    return account;
  }

  /**
   * Finds the installation of a repository. One that may write is asked for again after an hour,
   * anything else after five minutes.
   * @throws HostError
   */
  async standing(repository: RepositoryName): Promise<AppStanding> {
    const key = this.#keyOf(repository);
    const now = this.#now();
    const known = looked.get(key);
    if (known !== null && isWithin(known.at, lifeOf(known.standing), now)) return known.standing;
    const found = await unlessMissing(() =>
      this.#asApp(async (headers) =>
        toInstallation((await this.#rest.call(INSTALLATION, placeOf(repository), headers)).data),
      ),
    );
    const standing = (await this.#note(repository, found?.id ?? null)) ?? found;
    looked.set(key, { standing, at: now });
    return standing;
  }

  /**
   * Tells if an installation still has a repository, which a token for it proves: the host answers
   * 404 where the installation is gone, and 422 where it has lost the repository.
   * @throws HostError if that cannot be said.
   */
  async covers(installation_id: number, repositoryId: number): Promise<boolean> {
    const permissions = { metadata: 'read' } as const;
    const wanted = { installation_id, repository_ids: [repositoryId], permissions };
    try {
      await this.#asApp((headers) => this.#rest.call(NEW_TOKEN, wanted, headers));
      return true;
    } catch (error) {
      const { status, lasts } = hostFailureOf(error);
      // A host that asks for a pause may do so with 422, too.
      const isLost = status === 422 && lasts === 'final';
      if (isLost || (error instanceof HostError && error.code === 'missing')) return false;
      throw error;
    }
  }

  /** Returns what this isolate has last seen of a repository, however long ago. */
  lastSeen(repository: RepositoryName): AppStanding {
    return looked.get(this.#keyOf(repository))?.standing ?? null;
  }

  /**
   * Has an installation looked up again, because it may have changed. What was seen last stays, for
   * the case that the host does not answer.
   */
  expire(repository: RepositoryName): void {
    const standing = this.lastSeen(repository);
    if (standing !== null) looked.set(this.#keyOf(repository), { standing, at: -Infinity });
    else looked.delete(this.#keyOf(repository));
  }

  /** Forgets the tokens of a repository. */
  forgetTokens(repository: RepositoryName): void {
    for (const key of this.#tokenKeys(repository)) tokens.delete(key);
  }

  /** Tells if a token is so new that the host may not know it everywhere yet. */
  hasNewToken(repository: RepositoryName): boolean {
    const now = this.#now();
    return this.#tokenKeys(repository).some((key) => {
      const token = tokens.get(key);
      return token !== null && isWithin(token.madeAt, TOKEN_LAG_MS, now);
    });
  }

  /** Names the tokens that a repository may have now. */
  #tokenKeys(repository: RepositoryName): readonly string[] {
    const standing = this.lastSeen(repository);
    if (!isInstalled(standing)) return [];
    const key = `${this.#keyOf(repository)} ${standing.id}`;
    return Object.keys(NEEDED).map((purpose) => `${key} ${purpose}`);
  }

  /** Gives a token for one purpose in one repository. @throws HostError */
  async token(installation: Installation, repository: RepositoryName, purpose: Purpose): Promise<string> {
    const key = `${this.#keyOf(repository)} ${installation.id} ${purpose}`;
    const known = tokens.get(key);
    const soon = this.#hostNow() + SPARE_MS;
    if (known !== null && isAhead(known.endsAt, TOKEN_LIFE_MS, soon)) return known.text;
    const token = await this.#newToken(installation, repository, purpose).catch(async (error: unknown) => {
      if (hostFailureOf(error).status !== 422) throw error;
      // An installation is found by an old name of its repository, and tokens are not made for it.
      const current = await lookUpRepository(this.#public, repository).catch(() => repository);
      if (current.name === repository.name) throw error;
      return this.#newToken(installation, current, purpose);
    });
    tokens.set(key, token);
    return token.text;
  }

  #newToken(
    { id: installation_id }: Installation,
    { name }: RepositoryName,
    purpose: Purpose,
  ): Promise<Token> {
    const wanted = { installation_id, repositories: [name], permissions: NEEDED[purpose] };
    return this.#asApp(async (headers) => {
      const answer = await this.#rest.call(NEW_TOKEN, wanted, headers);
      expectStatus(answer, 201);
      const named = Date.parse(expectText(answer.data.expires_at));
      // A clock that is minutes behind, which the host bears, must not make it look too far away.
      const endsAt = Math.min(named, this.#hostNow() + TOKEN_LIFE_MS);
      return { text: expectText(answer.data.token), endsAt, madeAt: this.#now() };
    });
  }

  /** Makes a call, and once more if the first answer shows that the clocks differ. */
  async #asApp<T>(call: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
    const before = skews.get(this.#name);
    const silence = silences.get(this.#name, this.#now());
    if (silence !== null) throw silence;
    try {
      return await call(await this.#headers());
    } catch (error) {
      const { status, lasts } = hostFailureOf(error);
      if (error instanceof HostError && status === null && lasts === 'moment')
        silences.set(this.#name, error, this.#now());
      if (status !== 401 || skews.get(this.#name) === before) throw error;
      return call(await this.#headers());
    }
  }

  async #headers(): Promise<Readonly<Record<string, string>>> {
    return { authorization: `Bearer ${await this.#key.token(this.id, this.#hostNow())}` };
  }

  /** Learns the host's time from a refusal: a token whose times are wrong is refused, too. */
  #learnTime({ status, header }: HostAnswer): void {
    const skewMs = hostTime(header, this.#now()) - this.#now();
    const isOff = Math.abs(skewMs - (skews.get(this.#name) ?? 0)) >= LEAST_SKEW_MS;
    if (status === 401 && isOff) skews.set(this.#name, skewMs);
  }

  #now(): number {
    return this.#rest.clock.now();
  }

  #hostNow(): number {
    return this.#now() + (skews.get(this.#name) ?? 0);
  }

  #keyOf(repository: RepositoryName): string {
    return `${this.#name} ${fullName(repository)}`.toLowerCase();
  }
}

function lifeOf(standing: AppStanding): number {
  const mayWrite = isInstalled(standing) && standing.mayWrite && !standing.isSuspended;
  return mayWrite ? INSTALLED_LIFE_MS : OTHER_LIFE_MS;
}

export function isInstalled(standing: AppStanding): standing is Installation {
  return standing !== null && typeof standing !== 'string';
}

/** @throws TypeError for fields of another shape. */
function toInstallation({ id, suspended_at, permissions }: DataOf<typeof INSTALLATION>): Installation {
  const granted: Readonly<Record<string, unknown>> = permissions;
  const mayWrite = granted['issues'] === 'write' && granted['pull_requests'] === 'write';
  const mayReport = granted['repository_advisories'] === 'write';
  return { id: expectNumber(id), isSuspended: Boolean(suspended_at), mayWrite, mayReport };
}
