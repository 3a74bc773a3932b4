/**
 * Sends the file of a form through a door, and shows how that ends.
 * Proved by test/e2e/people/file-form.test.ts.
 */
import { type Changes, changesOf, MAX_PACK_BYTES } from '../../../edit/changes.ts';
import { difference } from '../../../edit/lines.ts';
import { utf8 } from '../../../git/bytes.ts';
import { ByteReader } from '../../../git/wire/byte-reader.ts';
import { branchName } from '../../../git/wire/ref-advertisement.ts';
import { changeDelayedPage } from '../../../pages/forms/change-pages.ts';
import {
  type FileFields,
  type FileForm,
  type FilePreview,
  filePreviewPage,
} from '../../../pages/forms/file-pages.ts';
import type { MemoryHold } from '../../../isolate/memory-budget.ts';
import { codesOf } from '../../../push/consent.ts';
import { isForReview } from '../../../push/delay/keep.ts';
import type { PushRun } from '../../../push/push-run.ts';
import { fewInMemory, type ReceivedPack, storedPack } from '../../../push/receive/receive.ts';
import { delayedSentence } from '../../../push/reply/banner.ts';
import type { Preview, Refusal } from '../../../push/reply/refusal.ts';
import { NotedReply } from '../../../push/reply/reply.ts';
import type { Arrival, Outcome } from '../../../push/session.ts';
import type { FormToken } from '../../../secret/form-token.ts';
import { LimitedSource } from '../../../streams/body.ts';
import { readsOf } from '../../../upstream/tree-reader.ts';
import { type Finding, linesOf } from '../../../words/finding.ts';
import { type Door, pushPosted } from '../../git/door.ts';
import { BUNDLE_DOOR } from '../../git/doors.ts';
import { patchDoor } from '../../git/patch.ts';
import { KeyedRequest } from '../../git/sent-before.ts';
import { problem, type Refused } from '../../request/refused.ts';
import { formRefusal, inFormWords } from '../change/form-push.ts';
import { answerForm, typedIdentity, type RequestedForm } from '../form.ts';
import { showOpened } from '../opened.ts';
import { WatchedFile } from './read-form.ts';

const BUNDLE_START = utf8('# v');
const NOT_SHOWN_EARLY =
  'Its files are not shown, because the service would have to ask the code host for their folders now. They are those of your commits.';
const NOTHING_TAKEN = problem(400, 'It has no branch. Make it of one branch, as shown below.');
const WAITS_ALREADY =
  'The same file waits already. Only its page, whose address the first answer told, changes that.';
const NEW_WARNINGS = 'It has warnings that you have not seen. Look at it again.';

interface SentFile {
  readonly isPublished: boolean;
  readonly token: FormToken;
  /** The name of the file that was looked at, and the warnings with which it is published. */
  readonly seen: string;
  readonly yes: string;
  readonly memory: MemoryHold;
}

/** @param again shows the form once more, with what is wrong. */
export async function sendFile(
  place: RequestedForm,
  form: FileForm,
  reader: ByteReader,
  { isPublished, token, seen, yes, memory }: SentFile,
  again: (refusal: Refused) => Promise<Response>,
): Promise<Response> {
  const { c, target } = place;
  const isBundle = await reader.startsWith(BUNDLE_START);
  const door = isBundle ? BUNDLE_DOOR : patchDoor(c, target, searchedIn(place, form.fields));
  const file = new WatchedFile(reader, isPublished ? seen : '', memory);
  const reply = new NotedReply();
  const body = new LimitedSource(file.source, door.maxBytes);
  const options = [...optionsOf(form.fields), ...(isPublished ? given('yes', yes) : ['preview'])];
  const keyed = isPublished ? new KeyedRequest(c, token.text) : null;
  const posted = { body, reader: new ByteReader(body), options, keyed, reply };
  let changes: Changes | string = NOT_SHOWN_EARLY;
  const ended = await pushPosted(c, target, door, posted, async (outcome, run, arrival) => {
    if (await mayCompare(run, door, form.fields)) changes = await changesIn(run, outcome, arrival);
  });
  if (ended.kind === 'too-large') return again(problem(413, door.tooLarge ?? 'A bundle may have 100 MB.'));
  if (ended.kind === 'opened-before') {
    const { pr_url, pr_hash, pr_key: key } = ended.answer;
    const facts = { updated: false, prUrl: pr_url ?? '', prHash: pr_hash ?? '', key };
    return showOpened(place, '', { ...facts, notes: [], same: null });
  }
  const { outcome } = ended;
  const preview = outcome.kind === 'refused' ? outcome.refusal.preview : null;
  if (preview === null || preview.refusal !== null) return concluded(place, outcome, reply, again);
  const { name: seenName, held } = file;
  return answerForm(
    c,
    filePreviewPage(form, { ...shownOf(preview), same: reply.same, changes, seen: seenName, held }),
  );
}

function searchedIn({ c }: RequestedForm, { own_name }: FileFields) {
  return own_name === '' ? [] : [typedIdentity(own_name, c.var.config.anonEmail)];
}

const given = (name: string, value: string): string[] => (value === '' ? [] : [`${name}=${value}`]);

function optionsOf({
  title,
  description,
  base,
  pr_hash,
  pr_key,
  ai,
  issue,
  delay,
  sign_off,
}: FileFields): string[] {
  const named = { title, description, base, 'pr-hash': pr_hash, 'pr-key': pr_key, ai, issue, delay };
  const all = Object.entries(named).flatMap(([name, value]) => given(name, value));
  return sign_off === '' ? all : [...all, 'sign-off'];
}

/** Whether the host may be asked now for the folders that it changes: it knows those of a patch. */
async function mayCompare(run: PushRun, { name }: Door, { delay }: FileFields): Promise<boolean> {
  if (name === 'patch') return true;
  const isNow = delay === '0s' || (delay === '' && run.settings.publishDelayMs === 0);
  return isNow && !(await isForReview(run));
}

async function changesIn(run: PushRun, outcome: Outcome, { task }: Arrival): Promise<Changes | string> {
  const preview = outcome.kind === 'refused' ? outcome.refusal.preview : null;
  if (preview === null || task.kind !== 'push') return '';
  const { pack } = task.received;
  const { byteLength } = pack.spool;
  if (byteLength > MAX_PACK_BYTES)
    return `Its files are ${byteLength.toLocaleString('en')} bytes, compressed. That is too much to be shown here.`;
  return compared(run, preview, pack).catch((error: unknown) => {
    run.logger.warn('the changes of a preview could not be read', { error });
    return 'Its files cannot be shown now. They are those of your commits.';
  });
}

async function compared(run: PushRun, { push }: Preview, { spool }: ReceivedPack): Promise<Changes> {
  const { transport, memory } = run.host;
  const pack = storedPack(await fewInMemory(spool, memory), 0);
  const { commits, boundary, repository } = push;
  return changesOf({ commits, boundary, pack }, readsOf(transport, repository), memory, difference);
}

function shownOf(preview: Preview): Omit<FilePreview, 'same' | 'changes' | 'seen' | 'held'> {
  const { author, title, body, commits, push, findings } = preview;
  return {
    author,
    title,
    body,
    commits,
    unlisted: push.commits.length - commits.length,
    base: branchName(push.base),
    findings: findings.map(inWordsOfForm).filter(({ lines }) => lines.length > 0),
    yes: codesOf(findings).join(','),
  };
}

function inWordsOfForm(finding: Finding): Finding {
  return { ...finding, lines: inFormWords(finding.lines).filter((line) => !/^ *curl /.test(line)) };
}

async function concluded(
  place: RequestedForm,
  outcome: Outcome,
  { notes, same }: NotedReply,
  again: (refusal: Refused) => Promise<Response>,
): Promise<Response> {
  switch (outcome.kind) {
    case 'published':
      return showOpened(place, '', { ...outcome.facts, notes: inFormWords(notes), same });
    case 'delayed': {
      const { reason, window, pageUrl } = outcome.facts;
      const waits = `${delayedSentence(reason, window)} Nothing of it is public yet.`;
      if (pageUrl === null) return again(problem(409, `${WAITS_ALREADY} ${waits}`));
      return answerForm(place.c, changeDelayedPage(place, waits, pageUrl));
    }
    case 'refused':
      return again(refusedFile(outcome.refusal));
    case 'nothing-taken':
    case 'withdrawn':
      return again(NOTHING_TAKEN);
  }
}

function refusedFile(refusal: Refusal): Refused {
  const { preview } = refusal;
  if (preview !== null)
    return problem(400, [`It would be refused: ${preview.refusal}.`, ...preview.remarks].join('\n'));
  if (refusal.code !== 'unconfirmed') return formRefusal(refusal);
  const lines = inFormWords(linesOf(refusal.warnings));
  return problem(409, [NEW_WARNINGS, ...lines].join('\n'));
}
