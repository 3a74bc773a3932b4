/**
 * Calls a host's REST interface. Without success, there is a HostError for a refusal
 * (`failure.ts`), or for a missing answer.
 */
import type { Endpoints } from '@octokit/types';
import { HostError, hostFailureOf, inOneRepository } from '../../words/host-error.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { type Clock, systemClock } from '../../isolate/clock.ts';
import { isolateMemory } from '../../isolate/memory-budget.ts';
import { withDeadline } from '../../isolate/within.ts';
import { countedFetch } from '../../metrics/tally.ts';
import type { Http } from '../../outgoing/http-client.ts';
import { wholeResponse } from '../../outgoing/response.ts';
import { noAnswer, hostRefusal, type RefusedCall } from '../failure.ts';
import type { HostKind } from '../kinds.ts';
import { withRetries } from '../retries.ts';
import { MOST_REDIRECTS, notFollowed, redirectOf } from '../redirect.ts';
import {
  type Actor,
  type AppAccount,
  appIsGone,
  appsPlace,
  type Author,
  DENIED,
  type Writers,
} from './actor.ts';
import { expectList, expectStatus } from './answer.ts';
import { type Differences, differencesOf } from './differences.ts';
import { parsedJson, refusalWords } from './refusal-words.ts';
import { requestOf, type RestRequest, type Route } from './request.ts';

/**
 * The version of docs.github.com/rest/about-the-rest-api/api-versions, which other hosts do not
 * know.
 */
const API_VERSION = '2022-11-28';
/** How often a call is repeated that was refused to the App: for a new token, and for a change. */
const MOST_RETRIES = 2;
/** Maximum number of pages of a list. The longest threads have some thousands of comments. */
const MAX_PAGES = 100;
/** Maximum size of an answer: a hundred comments of the greatest length. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** Size from which an answer, such as a page of comments, is counted in the isolate's memory. */
const FREE_RESPONSE_BYTES = 1024 * 1024;
/** Copies of an answer in memory: bytes, text and JSON. */
const MEMORY_FACTOR = 3;

type ParametersOf<R extends Route> = R extends keyof Endpoints
  ? Endpoints[R]['parameters']
  : Readonly<Record<'owner' | 'repo' | 'base' | 'head', string>>;
/**
 * The data of an answer, as GitHub describes it. It was not checked: whoever reads a field must
 * check it.
 */
export type DataOf<R extends Route> = R extends keyof Endpoints
  ? Endpoints[R]['response']['data']
  : DataOf<'GET /repos/{owner}/{repo}/pulls/{pull_number}'>;
type EntryOf<R extends Route> = DataOf<R> extends readonly (infer T)[] ? T : never;

export interface Answer<T> extends Pick<RefusedCall, 'status' | 'header'> {
  readonly data: T;
  /** The App that has made the call; absent: the account has. */
  readonly app?: number;
}

/** The settings for a host's REST interface and the bot's account. */
export interface RestAccess extends Actor {
  readonly kind: HostKind;
  readonly apiUrl: string;
  readonly http: Http;
  readonly clock: Clock;
  /** Absent if the service has no App. */
  readonly writers?: Writers;
}

export interface RestHabits {
  /** The maximum time until the whole answer to a call has come. */
  readonly timeoutMs: number;
  /** False if nothing is retried, because the caller comes back by itself. */
  readonly isPatient: boolean;
  /** Called with each call, further pages included. If it throws, the call is not made. */
  readonly beforeCall: () => void;
}

export class Rest {
  readonly apiUrl: string;
  readonly clock: Clock;
  readonly differences: Differences;
  readonly #access: RestAccess;
  readonly #fetch: Http['fetch'];
  readonly #hostName: string;
  readonly #habits: RestHabits;
  readonly #author: Author;

  constructor(access: RestAccess, habits: Partial<RestHabits> = {}, author: Author = 'new') {
    this.apiUrl = access.apiUrl;
    this.clock = access.clock;
    this.differences = differencesOf(access.kind);
    this.#access = access;
    this.#fetch = countedFetch('rest', access.http);
    this.#hostName = new URL(access.apiUrl).host;
    this.#habits = { timeoutMs: 30_000, isPatient: true, beforeCall: () => {}, ...habits };
    this.#author = author;
  }

  /** Returns the interface for whoever changes what this App has written; null: the account has. */
  by(app: number | null): Rest {
    return new Rest(this.#access, this.#habits, app);
  }

  /** Tells if something new in a repository is written by the App. @throws HostError */
  async writesAsApp(repository: RepositoryName): Promise<boolean> {
    const writer = await this.#access.writers?.forNew(repository);
    return writer?.app !== undefined;
  }

  /** Returns the App's account; null: the service has no App. */
  async appAccount(): Promise<AppAccount | null> {
    const { writers } = this.#access;
    return writers === undefined ? null : { ...(await writers.account()), app: writers.app };
  }

  /**
   * Makes a call. Parameters that the route does not name become the query or the body.
   * @throws HostError
   */
  async call<R extends Route>(
    route: R,
    parameters: ParametersOf<R>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<DataOf<R>>> {
    const place = appsPlace(route, parameters);
    for (let retries = 0; ; retries++) {
      const actor = await this.#actorIn(place);
      try {
        return await this.#callAs(actor, route, parameters, headers);
      } catch (error) {
        if (actor.app === undefined || place === null) throw error;
        if (retries === MOST_RETRIES || !(await this.#mayPass(place, error))) throw inOneRepository(error);
      }
    }
  }

  /** Tells if a call that was refused to the App may succeed now. */
  async #mayPass(place: RepositoryName, error: unknown): Promise<boolean> {
    const { writers } = this.#access;
    const refusal = hostFailureOf(error);
    if (writers === undefined || !DENIED.includes(refusal.status)) return false;
    return (await writers.waitForToken(place, refusal)) || writers.hasChanged(place, refusal);
  }

  /** Chooses who makes a call. @param place as `appsPlace` gives it. */
  async #actorIn(place: RepositoryName | null): Promise<Actor> {
    const { writers } = this.#access;
    if (place === null || this.#author === null) return this.#access;
    if (this.#author === 'new') return (await writers?.forNew(place)) ?? this.#access;
    if (writers === undefined) throw appIsGone();
    return writers.of(this.#author, place);
  }

  async #callAs<R extends Route>(
    actor: Actor,
    route: R,
    parameters: ParametersOf<R>,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer<DataOf<R>>> {
    const { backOff, tokenWatch, callMeter, token, app } = actor;
    this.#habits.beforeCall();
    const request = requestOf(route, parameters);
    const { operation } = request;
    await backOff.throwIfPaused();
    const { owner, repo } = parameters as { readonly owner?: string; readonly repo?: string };
    const subject = repo === undefined ? this.#hostName : `${owner}/${repo}`;
    const { status, header, text } = await this.#send(request, subject, {
      ...(token !== '' && { authorization: `token ${token}` }),
      ...headers,
    }).catch((error: unknown) => {
      throw error instanceof HostError ? error : noAnswer(this.#hostName, error, operation);
    });
    const body = parsedJson(text);
    const base = 'base' in parameters ? parameters.base : undefined;
    const isApp = app !== undefined;
    const refused = { ...refusalWords(body, text), operation, status, header, base, isApp };
    const answer = status < 400 ? { status, header, text: '' } : refused;
    tokenWatch.observe(answer);
    callMeter.observe(answer, operation);
    if (status >= 400) throw backOff.observe(refused) ?? hostRefusal(refused, this.#hostName, refused.says);
    const isEmpty = status === 204 || status === 304;
    // A redirect that was not followed, such as that of a write, has changed nothing.
    if (status >= 300 && !isEmpty) throw hostRefusal({ ...refused, operation: 'read' }, this.#hostName, '');
    // It is then as uncertain as without an answer whether the host has carried out the call.
    if (!isEmpty && (typeof body !== 'object' || body === null))
      throw noAnswer(this.#hostName, new TypeError('the host answers without JSON'), operation);
    return { status, header, data: body as DataOf<R>, ...(isApp && { app }) };
  }

  /**
   * Yields the pages of a list, as long as somebody asks for them. Some lists of Gitea's have no
   * link to the next page: those of labels and reviews only say how many entries there are in all,
   * which may be more than they show (`SetTotalCountHeader` without `SetLinkHeader` in
   * routers/api/v1/repo/{label,pull_review}.go, Gitea 1.26).
   * @param condition is a header of the first call. If nothing has changed since, there is one page
   * without entries.
   */
  async *pages<R extends Route>(
    route: R,
    parameters: ParametersOf<R>,
    condition: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<Answer<readonly EntryOf<R>[]>> {
    let seen = 0;
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = { ...this.differences.page, ...parameters, ...(page > 1 && { page }) };
      const answer = await this.call(route, query, page === 1 ? condition : {});
      if (answer.status === 304) return yield { ...answer, data: [] };
      // A page of another shape must not pass for the end of the list.
      expectStatus(answer, 200);
      const data = expectList(answer.data as unknown as readonly EntryOf<R>[]);
      yield { ...answer, data };
      seen += data.length;
      const isNextNamed = answer.header('link')?.includes('rel="next"') === true;
      const isMoreCounted = Number(answer.header('x-total-count') ?? 0) > seen;
      if (data.length === 0 || !(isNextNamed || isMoreCounted)) return;
    }
    throw new TypeError('the list has no end');
  }

  /** Returns all entries of a list. */
  async all<R extends Route>(route: R, parameters: ParametersOf<R>): Promise<readonly EntryOf<R>[]> {
    const entries: EntryOf<R>[] = [];
    for await (const { data } of this.pages(route, parameters)) entries.push(...data);
    return entries;
  }

  /**
   * Makes calls, and repeats them where that may help.
   * @param isRepeatable is false if they are only repeated where the host has said that it did
   * nothing.
   * @throws HostError, and without patience also TypeError for fields of another shape.
   */
  async retried<T>(calls: () => Promise<T>, isRepeatable = true): Promise<T> {
    // Callers that ask again by themselves handle fields of another shape.
    if (!this.#habits.isPatient) return calls();
    try {
      return await withRetries(this.clock, () => this.#withTokenCheck(calls), isRepeatable);
    } catch (error) {
      throw error instanceof TypeError ? noAnswer(this.#hostName, error) : error;
    }
  }

  /**
   * Makes calls. One 401 among good answers is a fault of the host, so it is asked who the bot is,
   * and the calls are made once more.
   */
  async #withTokenCheck<T>(calls: () => Promise<T>): Promise<T> {
    try {
      return await calls();
    } catch (error) {
      if (hostFailureOf(error).status !== 401) throw error;
      await this.call('GET /user', {});
      return calls();
    }
  }

  /**
   * Follows redirects within the host: a read all of them, a write only those that keep it a write
   * (RFC 9110, 15.4).
   * @param subject is what the call is about.
   * @throws HostError for a redirect that leads elsewhere, or for one too many.
   */
  async #followed(address: URL, subject: string, init: RequestInit): Promise<Response> {
    let url = address;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#fetch(url.href, { ...init, redirect: 'manual' });
      const { status } = response;
      const redirect = redirectOf(url, response);
      const isFollowed = init.method === 'GET' || KEEP_METHOD.has(status);
      if (redirect.kind === 'none' || (redirect.kind === 'same-origin' && !isFollowed)) return response;
      await response.body?.cancel();
      if (redirect.kind !== 'same-origin') throw notFollowed(subject, status, redirect);
      if (redirects === MOST_REDIRECTS) throw notFollowed(subject, status, { kind: 'circle' });
      url = redirect.url;
    }
  }

  #send(request: RestRequest, subject: string, headers: Readonly<Record<string, string>>) {
    return withDeadline(this.#habits.timeoutMs, (signal) =>
      this.#exchange(request, subject, headers, signal),
    );
  }

  async #exchange(
    { method, path, body }: RestRequest,
    subject: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) {
    const memory = isolateMemory.open(systemClock);
    try {
      const response = await this.#followed(new URL(this.apiUrl + path), subject, {
        method,
        headers: {
          accept: 'application/vnd.github.v3+json',
          // Neither the version of the program nor the runtime is told.
          'user-agent': 'gitveil',
          'x-github-api-version': API_VERSION,
          ...(body !== null && { 'content-type': 'application/json; charset=utf-8' }),
          ...headers,
        },
        body,
        signal,
      });
      const claim = memory.claim();
      const whole = await wholeResponse(response, MAX_RESPONSE_BYTES, async (bytes) => {
        if (bytes > FREE_RESPONSE_BYTES) await claim.set(MEMORY_FACTOR * bytes);
      });
      const header = (name: string) => response.headers.get(name);
      return { status: response.status, header, text: await whole.text() };
    } finally {
      memory.end();
    }
  }
}

/**
 * Statuses that ask to repeat a write as it is. After others, the success of a GET would look like
 * that of the write.
 */
const KEEP_METHOD: ReadonlySet<number> = new Set([307, 308]);
