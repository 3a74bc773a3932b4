/** The issue or pull request that someone names: its number, or its address as they paste it. Pure. */
import { fullName, type RepositoryName } from '../repository-name.ts';

export type NamedThread =
  | { readonly kind: 'thread'; readonly number: number }
  | { readonly kind: 'invalid'; readonly problem: string };

const NUMBER = /^#?([1-9]\d{0,14})$/;
const KIND = /^(?:issues|pulls?)$/;

/** @param webUrl of the code host. */
export function parseThreadText(text: string, repository: RepositoryName, webUrl: string): NamedThread {
  const typed = text.trim();
  const number = NUMBER.exec(typed)?.[1];
  if (number !== undefined) return { kind: 'thread', number: Number(number) };
  const [path = ''] = typed.replace(/^https?:\/\//, '').split(/[?#]/, 1);
  const [host = '', owner = '', name = '', kind = '', posted = ''] = path.split('/');
  if (!KIND.test(kind) || !/^[1-9]\d{0,14}$/.test(posted)) {
    return invalid('Write the number of the issue or pull request, such as 12, or paste its address.');
  }
  const ownHost = new URL(webUrl).host;
  if (host.toLowerCase() !== ownHost.toLowerCase()) {
    return invalid(`This address is not on ${ownHost}. Paste the address of an issue or pull request there.`);
  }
  const isOther = `${owner}/${name}`.toLowerCase() !== fullName(repository).toLowerCase();
  if (isOther) {
    return invalid(
      `This address belongs to another repository than ${fullName(repository)}. Open its page first.`,
    );
  }
  return { kind: 'thread', number: Number(posted) };
}

function invalid(problem: string): NamedThread {
  return { kind: 'invalid', problem };
}
