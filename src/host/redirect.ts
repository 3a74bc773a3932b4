/**
 * Checks whether an answer comes from the server that was asked. An address is believed whole or
 * not at all: whoever takes the path of a redirect and drops its server asks a stranger's
 * repository of that name (src-d/go-git#820). Only redirects to the same origin are followed:
 * scheme, host and port (RFC 6454).
 */
import { HostError, MovedError } from '../words/host-error.ts';
import { hostText } from '../words/host-text.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';

/** Maximum number of redirects of one request. A repository that was renamed twice needs two. */
export const MOST_REDIRECTS = 5;

export type Redirect =
  /** The answer is no redirect. */
  | { readonly kind: 'none' }
  | { readonly kind: 'same-origin'; readonly url: URL }
  /** The server wants people to sign in, at the same origin. */
  | { readonly kind: 'sign-in' }
  /** Another server. `server` is its name for people, without addresses of machines. */
  | { readonly kind: 'elsewhere'; readonly server: string }
  /** No address, or one with user information or with another protocol than HTTP. */
  | { readonly kind: 'unusable' };

/** Statuses that send a client to another address (RFC 9110, 15.4). */
const STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses that do so permanently. */
const PERMANENT: ReadonlySet<number> = new Set([301, 308]);
/** Matches usual addresses. Several headers arrive as one text with spaces in it. */
const ADDRESS = /^[!-~]{1,2048}$/;
/**
 * Matches user information, even if empty, which `URL` does not show. A `\` counts as `/` (WHATWG).
 */
const WITH_USER = /^[^\\/?#]*[\\/]{2,}[^\\/?#]*@/;
/**
 * Matches the paths for signing in of GitHub Enterprise Server, of Gitea and Forgejo, and of GitLab
 * (gitextensions/gitextensions#12182).
 */
const SIGN_IN = /^\/(?:login|user\/login|users\/sign_in)$/;

/**
 * Reads where an answer sends its client.
 * @param asked is the address of the request.
 */
export function redirectOf(asked: URL, { status, headers }: Pick<Response, 'status' | 'headers'>): Redirect {
  if (!STATUSES.has(status)) return { kind: 'none' };
  const location = headers.get('Location') ?? '';
  const url = ADDRESS.test(location) && !WITH_USER.test(location) ? URL.parse(location, asked.href) : null;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (!isHttp || url.username !== '' || url.password !== '') return { kind: 'unusable' };
  if (url.origin !== asked.origin) {
    const isSameName = url.host === asked.host;
    return { kind: 'elsewhere', server: hostText(isSameName ? url.origin : url.host) };
  }
  return SIGN_IN.test(url.pathname) ? { kind: 'sign-in' } : { kind: 'same-origin', url };
}

const NEXT_STEP = 'Ask its maintainers for the new address, then: git remote set-url origin NEW-ADDRESS';

/** A reason for not following a redirect. `circle` means that too many were followed. */
type NotFollowed = Exclude<Redirect, { kind: 'none' | 'same-origin' }> | { readonly kind: 'circle' };

/**
 * Makes the error for a redirect that is not followed. Nothing has been done.
 * @param subject is what the request was about, such as `octo/hello`.
 */
export function notFollowed(subject: string, status: number, redirect: NotFollowed): HostError {
  const isFinal = redirect.kind === 'elsewhere' && PERMANENT.has(status);
  const says = redirect.kind === 'elsewhere' ? `it ${movedTo(redirect)}` : '';
  return new HostError('refused', sentenceOf(subject, redirect), undefined, {
    lasts: isFinal ? 'final' : 'moment',
    whose: 'theirs',
    status,
    says,
  });
}

const movedTo = ({ server }: Extract<Redirect, { kind: 'elsewhere' }>): string =>
  `has moved to another server: ${server}`;

function sentenceOf(subject: string, redirect: NotFollowed): string {
  switch (redirect.kind) {
    case 'elsewhere':
      return `${subject} ${movedTo(redirect)}. This service does not follow it there. ${NEXT_STEP}`;
    case 'sign-in':
      return `The code host wants people to sign in before it shows ${subject}.`;
    case 'circle':
      return `The code host redirects ${subject} from one address to the next.`;
    case 'unusable':
      return `The code host redirects ${subject} to an address that cannot be followed.`;
  }
}

/**
 * Asks for a repository, and again under its new name if the host says that it was renamed.
 * @throws HostError, also for a circle of names.
 */
export async function followMoves<T>(
  name: RepositoryName,
  ask: (name: RepositoryName) => Promise<T>,
): Promise<{ readonly repository: RepositoryName; readonly answer: T }> {
  let repository = name;
  for (let moves = 0; ; moves++) {
    try {
      return { repository, answer: await ask(repository) };
    } catch (error) {
      if (!(error instanceof MovedError)) throw error;
      if (moves === MOST_REDIRECTS)
        throw notFollowed(fullName(name), error.status ?? 301, { kind: 'circle' });
      repository = error.to;
    }
  }
}
