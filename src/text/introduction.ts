/**
 * The comment with which the bot introduces itself on the first pull request in a repository.
 * docs/maintainers.md explains its words.
 * Proved by test/e2e/host/introduction.test.ts.
 */

interface Introduced {
  readonly serviceUrl: string;
  readonly maintainersUrl: string;
  /** The bot's login. */
  readonly bot: string;
  /** The repository whose file counts for all of the owner's. */
  readonly ownersRepository: string;
}

/** Writes what this is, who runs it, and how to stop it. */
export function introduction({ serviceUrl, maintainersUrl, bot, ownersRepository }: Introduced): string {
  const word = (name: string, effect: string) => `\`@${bot} ${name}\` (${effect})`;
  const words = [
    word('stop', 'nothing more in this repository'),
    word('mute', 'nothing more in this thread'),
    word('welcome', 'takes either back'),
    word('close all', 'closes what is open'),
  ];
  return [
    `Somebody without an account has sent this pull request through [gitveil](${serviceUrl}). This account posts for everybody who uses that service.`,
    `Who runs it, and what to know before you merge: ${maintainersUrl}`,
    `Maintainers can write one of these words, as a line of a comment: ${words.join(', ')}. A 👍 says that it counts. Without one, put \`accept: false\` into a file \`.gitveil.yml\`, here or in \`${ownersRepository}\`.`,
  ].join('\n\n');
}
