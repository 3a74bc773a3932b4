/** Checks names of refs (git-check-ref-format), and reads what a pushed ref asks for. */

/** Matches control characters, and what has a meaning in a revision or refspec. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\//;
const MAX_REF_NAME_LENGTH = 1_024;

export function isValidRefName(name: string): boolean {
  if (!name.startsWith('refs/') || name.length > MAX_REF_NAME_LENGTH || FORBIDDEN.test(name)) return false;
  // The host's REST interface accepts only well-formed text.
  if (!name.isWellFormed()) return false;
  const components = name.split('/');
  return components.length >= 3 && components.every((part) => /^[^.]/.test(part) && !part.endsWith('.lock'));
}

/**
 * The kinds of refs that a push can name. `for` is the AGit form `refs/for/<base>`, which names the
 * base branch.
 */
export type PushTarget =
  | { readonly kind: 'branch'; readonly branch: string }
  | { readonly kind: 'for'; readonly base: string }
  | { readonly kind: 'tag' }
  | { readonly kind: 'other' };

export function parsePushTarget(refName: string): PushTarget {
  const [, space, name = ''] = /^refs\/(heads|for|tags)\/(.*)$/s.exec(refName) ?? [];
  if (space === 'heads') return { kind: 'branch', branch: name };
  if (space === 'for') return { kind: 'for', base: name };
  return { kind: space === 'tags' ? 'tag' : 'other' };
}
