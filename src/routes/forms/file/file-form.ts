/**
 * Serves …/send-file, where a browser sends a bundle or a patch, and previews it first. It goes
 * through the same doors as a file that `curl` posts. Nothing is kept between the steps.
 * Proved by test/e2e/people/file-form.test.ts.
 */
import { ByteReader } from '../../../git/wire/byte-reader.ts';
import type { MemoryHold } from '../../../isolate/memory-budget.ts';
import {
  fileClosedPage,
  type FileFields,
  type FileForm,
  filePage,
  NO_FILE_FIELDS,
} from '../../../pages/forms/file-pages.ts';
import { OPEN_POLICY } from '../../../policy/policy.ts';
import { memoryFor } from '../../../service/scope.ts';
import { BodyError } from '../../../streams/body-error.ts';
import { chunksOf, discardBody, drain, type LimitedSource } from '../../../streams/body.ts';
import { boundaryOf } from '../../../streams/multipart.ts';
import { HostError } from '../../../words/host-error.ts';
import { MAX_PUSH_BYTES } from '../../git/git-push.ts';
import { announcedBytes } from '../../git/git-http.ts';
import { type FormFields, withPlainLineEnds } from '../../request/form-fields.ts';
import { isCrossSite } from '../../request/payload.ts';
import { knownPolicy } from '../../request/reading.ts';
import { answerRefused, explained, explanationOf, problem, type Refused } from '../../request/refused.ts';
import { scopeOf } from '../../request/scope.ts';
import { untilAnswered } from '../../request/until-answered.ts';
import {
  answerForm,
  CROSS_SITE,
  frameOf,
  INCOMPLETE,
  namedHash,
  NO_FORM,
  type RequestedForm,
  tokenOf,
} from '../form.ts';
import { outlookOf } from '../known-first.ts';
import { readFileForm } from './read-form.ts';
import { sendFile } from './send-file.ts';

/** A bundle, and the fields in front of it. */
const MAX_FORM_BYTES = MAX_PUSH_BYTES + 1024 * 1024;
const MAKE_SMALLER = 'A bundle may have 100 MB, a patch 10 MB. Propose some of it in another pull request.';
const TOO_LARGE = explained(413, 'The file is too large', MAKE_SMALLER);
const NO_FILE = problem(400, 'Choose the file.');
const AGAIN = 'Choose the file again, because a browser forgets it.';

export async function showFileForm(place: RequestedForm): Promise<Response> {
  const { c } = place;
  const pr_hash = namedHash(c.req.query('pr_hash'));
  if (typeof pr_hash !== 'string') return answerRefused(c, pr_hash, 'page');
  const { closed } = await outlookOf(place, 'pull_requests', null, pr_hash === '');
  if (closed !== null) return answerForm(c, fileClosedPage(place, closed));
  return answerForm(c, filePage(await fileForm(place, { ...NO_FILE_FIELDS, pr_hash })));
}

async function fileForm(place: RequestedForm, fields: FileFields): Promise<FileForm> {
  const { c, target } = place;
  const [frame, known] = await Promise.all([frameOf(place), knownPolicy(c, target)]);
  const { prUpdatePolicy, publishDelayMs } = c.var.config;
  const settings = { needsKey: prUpdatePolicy === 'key', isDelayed: publishDelayMs > 0 };
  return { ...frame, fields, policy: known ?? OPEN_POLICY, ...settings };
}

/** Answers the form that was sent, once all of it was read: a browser shows no answer before. */
export async function answerFileForm(place: RequestedForm): Promise<Response> {
  const { c } = place;
  const { raw } = c.req;
  const limits = { maxBytes: MAX_FORM_BYTES, timeoutMs: c.var.config.readTimeoutMs, of: raw };
  const body = chunksOf(raw.body, limits);
  const boundary = boundaryOf(c.req.header('Content-Type') ?? '');
  const refused = isCrossSite(raw) ? CROSS_SITE : announcedBytes(c) > MAX_FORM_BYTES ? TOO_LARGE : null;
  if (refused !== null || boundary === null) {
    await discardBody(body);
    return answerRefused(c, refused ?? { ...NO_FORM, status: 415 }, 'page');
  }
  const memory = memoryFor(scopeOf(c));
  const answering = async (): Promise<Response> => {
    try {
      return await answered(place, body, boundary, memory);
    } catch (error) {
      return await answerRefused(c, failureOf(error), 'page');
    } finally {
      await drain(new ByteReader(body));
    }
  };
  return untilAnswered(memory, answering());
}

/** @throws any error that is not of the body or of the memory */
function failureOf(error: unknown): Refused {
  if (error instanceof BodyError) return error.code === 'too-large' ? TOO_LARGE : INCOMPLETE;
  if (!(error instanceof HostError) || error.code !== 'busy') throw error;
  return explained(503, 'The service is busy', `${error.publicMessage} ${AGAIN}`);
}

async function answered(
  place: RequestedForm,
  body: LimitedSource,
  boundary: string,
  memory: MemoryHold,
): Promise<Response> {
  const { c } = place;
  const sent = await readFileForm(body, boundary, memory);
  if (sent === null) return answerRefused(c, NO_FORM, 'page');
  const fields = fieldsOf(sent.fields);
  const again = (refusal: Refused) => showAgain(place, fields, refusal);
  const read = await tokenOf(c, place.action, sent.fields);
  if (read.token === null) return again(problem(403, `${read.problem} ${AGAIN}`));
  const reader = sent.file && new ByteReader(sent.file);
  if (reader === null || (await reader.isAtEnd())) return again(NO_FILE);
  const form = await fileForm(place, fields);
  const step = { isPublished: sent.fields.get('step') === 'publish', token: read.token };
  const seen = { seen: sent.fields.get('seen') ?? '', yes: sent.fields.get('yes') ?? '' };
  return sendFile(place, form, reader, { ...step, ...seen, memory }, again);
}

async function showAgain(place: RequestedForm, fields: FileFields, refusal: Refused): Promise<Response> {
  const form = { ...(await fileForm(place, fields)), problem: explanationOf(refusal) };
  return answerForm(place.c, filePage(form), refusal.status, refusal.headers);
}

function fieldsOf(sent: FormFields): FileFields {
  const read = Object.keys(NO_FILE_FIELDS).map((name) => [
    name,
    withPlainLineEnds(sent.get(name) ?? '').trim(),
  ]);
  const { pr_hash, pr_key, ...others } = Object.fromEntries(read) as FileFields;
  return { ...others, pr_hash: pr_hash.toLowerCase(), pr_key: pr_key.toLowerCase() };
}
