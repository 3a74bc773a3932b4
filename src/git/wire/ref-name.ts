/**
 * Which ref names Git allows (git-check-ref-format), and how a pushed ref asks for a base branch.
 */

/** Control characters, and the characters that mean something in a revision or a refspec. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\//;
const MAX_REF_NAME_LENGTH = 1_024;

export function isValidRefName(name: string): boolean {
  if (!name.startsWith('refs/') || name.length > MAX_REF_NAME_LENGTH || FORBIDDEN.test(name)) return false;
  // The host's REST interface accepts only text.
  if (!name.isWellFormed()) return false;
  const components = name.split('/');
  return components.length >= 3 && components.every((part) => /^[^.]/.test(part) && !part.endsWith('.lock'));
}

/**
 * What a pushed ref asks for: `refs/for/<base>` is the AGit form and names the base branch itself.
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
