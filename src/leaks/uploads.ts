/**
 * Finds files that were uploaded at a code host. Their address says nothing, but the host knows
 * whose account has uploaded them. Pure, and linear in the text.
 */
import { shown, told } from './lines.ts';

const ADDRESS = /https?:\/\/[^\s<>()[\]"'`]+/gi;
const UUID_BEGINNING = /^[0-9a-f]{8}-/;
const NUMBER_BEGINNING = /^\d/;

/** Names in lines what was uploaded; none if nothing was. */
export function uploadLines(text: string): string[] {
  const found = Array.from(text.matchAll(ADDRESS), ([address]) => address).filter(isUpload);
  return told('Files were uploaded at a code host, which knows by whose account:', [
    ...new Set(found.map(shown)),
  ]);
}

/**
 * Knows addresses of GitHub since 2023, before that, and before 2017, and those of Gitea and
 * Forgejo.
 */
function isUpload(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname, pathname } = new URL(address);
  const [, first = '', second = '', third = '', fourth = ''] = pathname.split('/');
  if (hostname === 'user-images.githubusercontent.com' || first === 'user-attachments') return true;
  if (first === 'attachments') return UUID_BEGINNING.test(second);
  return (third === 'assets' || third === 'files') && NUMBER_BEGINNING.test(fourth);
}
