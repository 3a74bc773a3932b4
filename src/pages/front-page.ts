/**
 * The front page: what the service is, how to use it, and whether it works now.
 * Proved by test/routes/pages/front-page.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import { type AppProblem, isOfApp, type TokenProblem } from '../host/account/token-problems.ts';
import type { Config } from '../config/config.ts';
import { hostNameOf, repositoryPath } from '../config/hosts.ts';
import type { LedgerEntry } from '../stats/ledger.ts';
import { commandList, commandScript, commandText } from './commands.ts';
import { queryField } from './forms/parts.ts';
import IN_BROWSER_HTML from './fragments/browser.html';
import {
  card,
  countOf,
  dotted,
  filled,
  type Html,
  listCard,
  type Page,
  PRIVACY_PATH,
  promises,
  statusLine,
} from './layout.ts';

const TITLE = 'Contribute without an account';
const WHAT = [
  'Push a branch to this Git remote, and a bot opens the pull request for you.',
  'It does not show your name, your e-mail address or your dates.',
];

interface FrontPage {
  readonly text: string;
  readonly hosts: Config['hosts'];
  /** `gh/owner/repo`, or a placeholder. */
  readonly path: string;
  readonly isInvalid: boolean;
  readonly remoteBase: string;
  /** Whether pushes are. Like `total` and `recent`, undefined if the service could not find out. */
  readonly isSuspended: boolean | undefined;
  readonly botProblems: readonly { readonly hostName: string; readonly problem: TokenProblem }[];
  /** Whether the code host is the embedded one, so that the service is only being tried. */
  readonly isHostEmbedded: boolean;
  readonly total: number | undefined;
  /** The newest pull requests; null if only holders of the service's key may see them. */
  readonly recent: readonly LedgerEntry[] | null | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function frontPage(page: FrontPage): Page {
  return {
    title: `gitveil: ${TITLE.toLowerCase()}`,
    description: WHAT.join(' '),
    script: commandScript(page.hosts),
    content: html`<main>
      <h1>${TITLE}</h1>
      <p class="lead">${WHAT.join(' ')}</p>
      ${status(page)}
      ${page.botProblems.map(({ hostName, problem }) =>
        isOfApp(problem)
          ? ''
          : statusLine('bad', html`${hostName} ${BOT_PROBLEMS[problem]}. The operator has been told.`),
      )}
      ${page.isHostEmbedded ? statusLine('warn', TRIAL) : ''}
      <section class="card" aria-label="Repository">${repositoryForm(page)}</section>
      <div class="columns">
        ${card('git', 'With Git', commandList(page.remoteBase, page.path))} ${filled(IN_BROWSER_HTML)}
      </div>
      ${promises(page.recent === null ? '' : recentPullRequests(page.recent, page.now))}
    </main>`,
  };
}

const TRIAL =
  'This service is only being tried: its code host is embedded, and nothing reaches a real repository.';

function repositoryForm({ text, isInvalid, hosts }: FrontPage): Html {
  const names = hosts.map(hostNameOf);
  const label = `Which repository${names.length === 1 ? ` at ${names[0]}` : ''}?`;
  const query = { name: 'repo', label, value: text, placeholder: 'owner/repo', maxlength: 300 };
  const rule = `Write it as owner/repo, with letters, digits, “-”, “_” and “.” only, or paste its address at ${inWords(names)}.`;
  return html`<form method="get" action="/" id="start">
    ${queryField(query, html`<button type="submit">Open</button>`, isInvalid ? rule : null)}
    ${names.length === 1 ? '' : html`<p class="soft small">Or paste its address at ${inWords(names)}.</p>`}
  </form>`;
}

/**
 * Consequences for visitors, in words that follow the host's name. The alert tells the operator
 * more. What is wrong with the App changes nothing for them.
 */
const BOT_PROBLEMS: Readonly<Record<Exclude<TokenProblem, AppProblem>, string>> = {
  suspended: 'has suspended the bot’s account: pushes, comments and issues fail until that ends',
  hidden: 'hides the bot’s account: nobody else sees its pull requests, comments and issues until that ends',
  rejected: 'refuses the bot’s token: pushes, comments and issues fail until there is a new one',
  'expires-soon': 'lets the bot’s token expire within a week',
  'fine-grained': 'takes no pull requests with a token of the bot’s kind',
  'no-public_repo': 'has not allowed the bot’s token to write: pushes, comments and issues fail',
  'no-workflow': 'has not allowed the bot’s token to update workflows: some pushes fail',
  'no-notifications': 'has not allowed the bot’s token to read notifications of comments and merges',
  'no-write:repository': 'has not allowed the bot’s token to write to repositories: pushes fail',
  'no-write:issue': 'has not allowed the bot’s token to write: comments and issues fail',
  'no-read:user': 'has not allowed the bot’s token to read its own name: pushes fail',
  'no-read:notification': 'has not allowed the bot’s token to read notifications of comments and merges',
  'public-only': 'has not allowed the bot’s token to read notifications of comments and merges',
};

/** Lists names: `a, b or c`. */
function inWords(names: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(names).replace(', or ', ' or ');
}

const UNCERTAIN = dotted('warn', 'The service cannot tell whether pushes are accepted');
const SUSPENDED = dotted('bad', 'Pushes are suspended at the moment');
const ACCEPTED = dotted('good', 'Pushes are accepted');

function status({ isSuspended, total }: FrontPage): Html {
  const known = isSuspended ? SUSPENDED : ACCEPTED;
  return html`<p class="status">
    ${isSuspended === undefined ? UNCERTAIN : known}
    ${total === undefined ? '' : html`<span class="soft">${countOf(total, 'pull request')} so far</span>`}
  </p>`;
}

const SHOWN = 5;

function recentPullRequests(recent: readonly LedgerEntry[] | undefined, now: number): Html {
  const items = (recent ?? []).slice(0, SHOWN).map(({ host, owner, repo, prUrl, createdAt }) => {
    const [, number] = /\/(\d+)$/.exec(prUrl) ?? [];
    return html`<li>
      <span>
        <a href="/v1/${repositoryPath({ key: host }, { owner, name: repo })}">${owner}/${repo}</a>
        ${number === undefined ? '' : `#${number}`}
      </span>
      <time class="soft" datetime="${createdAt}">${timeAgo(now - Date.parse(createdAt))}</time>
    </li>`;
  });
  const nothing = recent === undefined ? 'The list cannot be read at the moment.' : 'None yet.';
  return listCard('recent', 'Recent pull requests', items, nothing, 'threads');
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

function timeAgo(ms: number): string {
  const found = UNITS.find(([, unitMs]) => ms >= unitMs);
  if (found === undefined) return 'just now';
  const [unit, unitMs] = found;
  return `${countOf(Math.floor(ms / unitMs), unit)} ago`;
}

/** Makes the text for a terminal. */
export function frontText(
  { remoteBase, path, isHostEmbedded }: Pick<FrontPage, 'remoteBase' | 'path' | 'isHostEmbedded'>,
  origin: string,
): string {
  return [
    `gitveil: ${TITLE.toLowerCase()}`,
    '',
    ...WHAT,
    ...(isHostEmbedded ? [TRIAL] : []),
    '',
    ...commandText(remoteBase, path).map((line) => `  ${line}`),
    '',
    `What it protects, and what not: ${origin}${PRIVACY_PATH}`,
    '',
  ].join('\n');
}
