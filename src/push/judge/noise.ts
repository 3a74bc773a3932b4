/** Whether what becomes public would disturb people: it mentions many, or refers to many things elsewhere (text/noise.ts). */
import { pullRequestText } from '../../git/objects/commit-message.ts';
import { ZERO_OID } from '../../git/objects/oid.ts';
import { MAX_READ_BYTES, shown, told } from '../../names/messages.ts';
import { readMarkdown } from '../../text/markdown.ts';
import { noiseInMessage, noiseProblem, type Whereabouts } from '../../text/noise.ts';
import { Refusal } from '../reply/refusal.ts';
import { namedText, type Publishable, wholeText, type Worded } from '../verdict.ts';

/** No id of the push's own commits refers to another repository. */
const NO_IDS = { idOf: () => ZERO_OID };

/** @throws Refusal if the text of the pull request would. */
export function refuseNoise(push: Worded, updates: boolean, where: Whereabouts): void {
  const { title, body } = updates ? namedText(push, NO_IDS) : wholeText(push, NO_IDS);
  const texts = { title: readMarkdown(title ?? ''), description: readMarkdown(body ?? '') };
  const problem = noiseProblem(texts, where);
  if (problem === null) return;
  throw new Refusal('noise', 'the pull request would disturb too many people', [
    `Its ${problem}.`,
    'Title and description come from the message of the newest commit. To replace them, push again with',
    '-o title=... or -o description=...',
  ]);
}

/** Lines for the person, about messages that would. Hosts read no Markdown in messages. Cost: linear, and bounded. */
export function warningOfNoise({ commits }: Pick<Publishable, 'commits'>, where: Whereabouts): string[] {
  const titles: string[] = [];
  let bytesLeft = MAX_READ_BYTES;
  for (const { encoding, message } of commits) {
    const { title, body } = pullRequestText({ encoding, message: message.bytes.subarray(0, bytesLeft) });
    if (noiseInMessage(`${title}\n${body}`, where) !== null) titles.push(title);
    bytesLeft -= message.bytes.byteLength;
    if (bytesLeft <= 0) break;
  }
  return told(
    'Your commit messages become public as they are. These mention many people, or refer to many things in other repositories:',
    titles.map(shown),
  );
}
