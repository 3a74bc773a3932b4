/**
 * Finds files that were uploaded at a code host. Their address says nothing, but the host knows
 * whose account has uploaded them. Pure, and linear in the text.
 */
import { shown, told } from './messages.ts';

/**
 * Matches addresses of uploads: of GitHub since 2023, before that, and before 2017; of Gitea and
 * Forgejo (`/attachments/` and a UUID).
 */
const UPLOAD =
  /https?:\/\/(?:user-images\.githubusercontent\.com\/|[\w.-]{1,253}(?::\d{1,5})?\/(?:user-attachments\/|attachments\/[0-9a-f]{8}-|[\w.-]{1,100}\/[\w.-]{1,100}\/(?:assets|files)\/\d))[\w./?=&%-]{0,200}/gi;

/** Names in lines what was uploaded; none if nothing was. */
export function uploadLines(text: string): string[] {
  const found = new Set(Array.from(text.matchAll(UPLOAD), ([address]) => shown(address)));
  return told('Files were uploaded at a code host, which knows by whose account:', [...found]);
}
