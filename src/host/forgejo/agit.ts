/**
 * Pull requests by a push to `refs/for/<base>` (AGit flow): what such a push says, and what the server says of it. Pure.
 *
 * `services/agit/agit.go` of Gitea 1.26 and of Forgejo: the topic and the pusher's login name the pull request, beside the
 * base. The open one of a topic is updated, and else a new one opens. Title and description count only for a new one;
 * where one is empty, the server takes it from the newest commit's message.
 */
import type { AgitRequest } from '../code-host.ts';

/** The default of `WORK_IN_PROGRESS_PREFIXES` in a server's app.ini; their case does not matter. */
const DRAFT_TITLE = /^(?:WIP:|\[WIP\])/i;
/** In front of a value that is encoded, because an option is one line. */
const ENCODED = '{base64}';
/** An option is a pkt-line, and base64 takes a third more. What is longer follows by REST. */
const MAX_DESCRIPTION_BYTES = 40_000;

/** Title and description as the pull request is to have them. */
export interface ShownText {
  readonly title: string;
  readonly body: string;
}

export function shownText({ title, body, isDraft }: NonNullable<AgitRequest['text']>): ShownText {
  // There is no other way to say it.
  return { title: isDraft && !DRAFT_TITLE.test(title) ? `WIP: ${title}` : title, body };
}

/** The ref and the push options. Nothing but what `request` names. */
export function agitPush({ base, topic, text, isForced }: AgitRequest): {
  readonly refName: string;
  readonly pushOptions: readonly string[];
} {
  const pushOptions = [`topic=${topic}`];
  if (isForced) pushOptions.push('force-push=true');
  if (text !== null) {
    const { title, body } = shownText(text);
    const beginning = Buffer.from(body).subarray(0, MAX_DESCRIPTION_BYTES).toString();
    // A line break stands for an empty one, which the server would fill in.
    pushOptions.push(`title=${oneLine(title)}`, `description=${encoded(beginning || '\n')}`);
  }
  return { refName: `refs/for/${base}`, pushOptions };
}

/** Older servers do not know the encoding, and most titles need none. */
function oneLine(title: string): string {
  return /[\0\n]/.test(title) || title.startsWith(ENCODED) ? encoded(title) : title;
}

function encoded(value: string): string {
  return ENCODED + Buffer.from(value).toString('base64');
}

/** Whether a pull request has the text that it was to have. Servers trim it. */
export function hasText(shown: ShownText, wanted: ShownText): boolean {
  return shown.title.trim() === wanted.title.trim() && shown.body.trim() === wanted.body.trim();
}

/** The open pull request has commits that would go. Only whoever asks for `force-push` may take them away. */
export function isOvertaken(reason: string): boolean {
  return /force-push/.test(reason);
}
