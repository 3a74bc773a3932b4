/**
 * Who makes a call: the bot's account, or the App that a repository's maintainers have installed.
 * On issues and pull requests of such a repository the App writes. Everything else is the
 * account's, such as forks and reads.
 * Proved by test/host/app/app-writers.test.ts.
 */
import { type Failure, HostError } from '../../words/host-error.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type { BackOff } from '../account/account-back-off.ts';
import type { CallMeter } from '../account/account-budget.ts';
import type { TokenWatch } from '../account/token-watch.ts';
import type { Account } from '../code-host.ts';

/** A token, and who learns from the answers to its calls. */
export interface Actor {
  readonly token: string;
  readonly backOff: BackOff;
  readonly tokenWatch: Pick<TokenWatch, 'observe'>;
  readonly callMeter: CallMeter;
  /** The number of the App; absent: it is the account. */
  readonly app?: number;
}

/** Who makes a private report, and the name of the account whose limits count for it. */
export interface Reporting extends Actor {
  readonly payer: string;
}

/** The account in whose name an App writes. */
export interface AppAccount extends Account {
  /** The number of the App. */
  readonly app: number;
}

/** Chooses who writes. Methods reject with HostError. */
export interface Writers {
  /** The number of the App. */
  readonly app: number;
  /** Reads the account in whose name the App writes. */
  account(): Promise<Account>;
  /** Names the account whose limits count for something new; null: the bot's. */
  payer(repository: RepositoryName): Promise<string | null>;
  /** Tells if maintainers have installed the App, suspended or not. */
  isInstalled(repository: RepositoryName): Promise<boolean>;
  /** Tells if an installation still has a repository, both by their numbers. */
  covers(installation: number, repositoryId: number): Promise<boolean>;
  /** Has it looked up again whether the App is installed, because that may have changed. */
  expireInstallation(repository: RepositoryName): void;
  /** Chooses who writes something new; null: the account. */
  forNew(repository: RepositoryName): Promise<Actor | null>;
  /**
   * Chooses the App for a private report; null: it is not installed there, or may not report. No
   * report is the account's because the App cannot be asked.
   */
  forReport(repository: RepositoryName): Promise<Reporting | null>;
  /** Gives the writer of what an App has written, which nobody else may change. */
  of(app: number, repository: RepositoryName): Promise<Actor>;
  /** Waits if a refusal may come from a host that does not know a new token everywhere yet. */
  waitForToken(repository: RepositoryName, refusal: Failure): Promise<boolean>;
  /** Tells if another writer, or another token, may succeed where the App's was refused. */
  hasChanged(repository: RepositoryName, refusal: Failure): Promise<boolean>;
}

/**
 * The author of what is written: `new` is chosen by `Writers`, a number is that of an App, and null
 * is the account.
 */
export type Author = 'new' | number | null;

/** The statuses of a call whose token may not be valid any more. */
export const DENIED: readonly (number | null)[] = [401, 403, 404];
/** Matches what GitHub says of a permission that a token lacks. */
export const NOT_PERMITTED = /resource not accessible by integration/i;

const THREAD = /^(?!GET )[A-Z]+ \/repos\/\{owner\}\/\{repo\}\/(?:issues|pulls)(?:\/|$)/;
/** A read that the account may not make. */
const PERMISSION = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';

/** Finds the repository in which a call is the App's; null: it is the account's. */
export function appsPlace(route: string, parameters: object): RepositoryName | null {
  const { owner, repo } = parameters as { readonly owner?: string; readonly repo?: string };
  const isApps = owner !== undefined && repo !== undefined && (THREAD.test(route) || route === PERMISSION);
  return isApps ? { owner, name: repo } : null;
}

/** Refuses to change what an App has written that may not write there any more. */
export function appIsGone(): HostError {
  const message =
    'Only the App that has written this can change it, and it is not installed in the repository any more. ' +
    'The maintainers of the repository can change it themselves.';
  const says = 'the App that has written this is not installed any more';
  return new HostError('refused', message, undefined, { status: 403, says });
}
