/**
 * The rule of the DCO app (github.com/dcoapp/app, lib/dco.js), so that what reaches the host is
 * held against it: every commit that is no merge needs a `Signed-off-by:` line whose name and
 * address are the author's or the committer's, in any case. It also passes over commits whose
 * account is a bot (`type: "Bot"`); the service's account may be a plain one, so no commit is
 * passed over here. The address must look like one.
 */
import type { CommitParts } from './objects.ts';

const ADDRESS = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/;

/** Says what the app would say of each commit that it does not pass. */
export function dcoProblems(commits: readonly CommitParts[]): string[] {
  return commits.filter(({ parents }) => parents.length < 2).flatMap(problemOf);
}

function problemOf({ oid, message, author, committer }: CommitParts): string[] {
  const people = [author, committer].map(identityOf);
  const signed = Array.from(
    message.toString().matchAll(/^Signed-off-by: (.*) <(.*)>$/gim),
    ([, name, email]) => [name, email].map((part) => part?.toLowerCase()),
  );
  if (signed.length === 0) return [`${oid}: the sign-off is missing`];
  const [, address = ''] = people[0] ?? [];
  if (!ADDRESS.test(address)) return [`${oid}: ${address} is no address`];
  const isOwn = signed.some(
    ([name, email]) =>
      people.some(([own]) => own === name) && people.some(([, ownEmail]) => ownEmail === email),
  );
  return isOwn ? [] : [`${oid}: signed off by others`];
}

function identityOf(line: string): [name: string, email: string] {
  const [, name = '', email = ''] = /^(.*) <(.*)> \d+ [+-]\d{4}$/.exec(line.toLowerCase()) ?? [];
  return [name, email];
}
