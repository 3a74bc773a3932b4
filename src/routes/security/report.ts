/**
 * Reports vulnerabilities to the maintainers of a repository alone: the JSON endpoint, and the
 * check that the form shares with it.
 * Proved by test/routes/security/report.test.ts and test/e2e/people/private-report.test.ts.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { utf8 } from '../../git/bytes.ts';
import type { PrivateReport } from '../../host/code-host.ts';
import { ECOSYSTEMS, SEVERITIES } from '../../host/kinds.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { SECURITY_FORM } from '../../pages/remote-paths.ts';
import { characters, reportText } from '../../text/footer.ts';
import { FENCE_IS_OPEN, footerProblem, titleProblem } from '../../text/footer-room.ts';
import { readMarkdown } from '../../text/markdown.ts';
import { noiseProblem } from '../../text/noise.ts';
import { INVALID_NAME, type RepositoryName } from '../../words/repository-name.ts';
import { answer, asJson, described, error, repositoryParams } from '../description.ts';
import { refusePost } from '../request/limits.ts';
import { checkPayload, isBlankText, publicText, readJsonObject } from '../request/payload.ts';
import { publishedAddress } from '../request/public-origin.ts';
import { invalidField, type Refused } from '../request/refused.ts';
import { idempotencyHeader, onPost, sentRequest } from '../threads/posting.ts';
import { MAY_HAVE_ARRIVED, NO_REPLIES, readersOf, sendReport, SENT_BEFORE } from './send-report.ts';

/**
 * The limits of GitHub's description (`maxLength`); that of the description counts as bytes here.
 */
const MAX_SUMMARY_CHARACTERS = 1024;
const MAX_DESCRIPTION_BYTES = 65_535;
/** Longer than any name of a package or range of versions. */
const MAX_LINE_CHARACTERS = 256;
const MAX_CWE_IDS = 20;
const CWE_ID = /^CWE-\d{1,6}$/;
/** Matches vectors of the versions that GitHub takes. */
const CVSS_VECTOR = /^CVSS:(?:3\.[01]|4\.0)(?:\/[A-Z]{1,3}:[A-Z]{1,2}){1,40}$/i;

const line = (field: string, most = MAX_LINE_CHARACTERS) =>
  publicText(field)
    .refine((text) => !/[\r\n]/.test(text), { error: `${field} must be one line` })
    .refine((text) => characters(text.trim()) <= most, {
      error: `${field} must have at most ${most} characters`,
    });
const optionalLine = (field: string) => line(field).nullish();

const reportRequest = z.object({
  summary: line('summary', MAX_SUMMARY_CHARACTERS).meta({ description: 'More than white space.' }),
  description: publicText('description').meta({ description: 'Markdown; more than white space.' }),
  severity: z.enum(SEVERITIES).nullish().meta({ description: 'Send this or `cvss_vector_string`.' }),
  cvss_vector_string: publicText('cvss_vector_string')
    .refine((text) => CVSS_VECTOR.test(text), {
      error: 'cvss_vector_string must be a vector of CVSS 3.0, 3.1 or 4.0, such as CVSS:3.1/AV:N/AC:L/…',
    })
    .nullish()
    .meta({ description: 'Send this or `severity`.' }),
  ecosystem: z.enum(ECOSYSTEMS).nullish().meta({ description: 'Where the package is from. Default: other.' }),
  package: optionalLine('package').meta({
    description: "The name of the package. Default: the repository's, because the code host wants one.",
  }),
  vulnerable_version_range: optionalLine('vulnerable_version_range').meta({ examples: ['< 1.2.3'] }),
  patched_versions: optionalLine('patched_versions').meta({ examples: ['1.2.3'] }),
  cwe_ids: z
    .array(publicText('cwe_ids').refine((id) => CWE_ID.test(id), { error: 'cwe_ids must be like CWE-79' }))
    .max(MAX_CWE_IDS, { error: `cwe_ids must have at most ${MAX_CWE_IDS} entries` })
    .nullish()
    .meta({ description: 'Kinds of weaknesses.', examples: [['CWE-79']] }),
});

const reportAnswer = z
  .object({
    report_id: z.string().meta({ description: "The code host's id.", examples: ['GHSA-2222-3333-4444'] }),
    report_url: z.url().meta({ description: 'Its page at the code host, which only its readers see.' }),
    readers: z
      .string()
      .meta({ description: 'Who can read it.', examples: [readersOf({ privateReports: 'account' })] }),
    replies: z.string().meta({ description: 'Where replies go.', examples: [NO_REPLIES] }),
  })
  .meta({ description: 'The report was sent.' });

export const security = new Hono<AppEnv>();

security.post(
  `${REPOSITORY_PATH}${SECURITY_FORM}/anonymous`,
  described(onPost(answerReport), {
    operationId: 'reportVulnerability',
    summary: 'Report a vulnerability privately',
    description:
      'The bot reports it to the maintainers alone, if they take such reports. Nothing of it is kept here, so nobody can edit it, take it back or read replies.',
    tag: 'Private reports',
    path: repositoryParams,
    header: idempotencyHeader,
    json: reportRequest,
    responses: {
      200: answer('The report was sent.', asJson(reportAnswer)),
      400: error(
        'The request is not valid, or the code host refused it.',
        ['summary and description are required', 'invalid-field'],
        ['invalid payload', 'invalid-payload'],
        INVALID_NAME,
        [FENCE_IS_OPEN, 'invalid-field'],
        ['failed to send the report: 404 Not Found', 'not-created'],
      ),
      403: error(
        'The service or the repository takes no private reports, or a page of another site must not send this.',
      ),
      409: error('A request with this Idempotency-Key was sent before. Nothing is kept of its answer.', [
        `this request was sent before, ${SENT_BEFORE}`,
        'conflict',
      ]),
      422: error('This Idempotency-Key was sent with another body.'),
      429: error(
        'The client or all clients together have posted too much, or little is left to the bot account. Retry-After says how long to wait.',
      ),
      502: error('The code host did not answer as expected.', [
        `no answer from github.com: ${MAY_HAVE_ARRIVED}`,
        'may-exist',
      ]),
      503: error(
        'The operator has suspended pushes or comments, the code host asks to slow down or cannot say whether it takes reports, a limit cannot be checked, nobody can tell whether this Idempotency-Key was sent before, or the service has no bot account. Nothing was sent.',
      ),
    },
  }),
);

async function answerReport(
  c: Context<AppEnv>,
  repository: RepositoryName,
  memory: MemoryHold,
): Promise<Response | Refused> {
  const payload = await readJsonObject(c, memory);
  if (payload.kind === 'refused') return payload;
  const request = await sentRequest(c, payload.fields);
  if (request.kind === 'refused') return request;
  const checked = await checkReport(c, repository, payload.fields);
  if (checked.kind === 'refused') return checked;
  const outcome = await sendReport(c, repository, checked.report, request);
  if (outcome.kind === 'refused') return outcome;
  return c.json<z.infer<typeof reportAnswer>>({
    report_id: outcome.id,
    report_url: outcome.url,
    readers: readersOf(c.var.config),
    replies: NO_REPLIES,
  });
}

/**
 * Checks whether the report may be sent, and gives it with the service's lines. Counts an attempt
 * before Markdown is read, because a text that is refused costs as much to read.
 */
export async function checkReport(
  c: Context<AppEnv>,
  repository: RepositoryName,
  payload: Readonly<Record<string, unknown>>,
): Promise<{ readonly kind: 'report'; readonly report: PrivateReport } | Refused> {
  const texts = { summary: payload['summary'] ?? '', description: payload['description'] ?? '' };
  const checked = checkPayload(reportRequest, { ...payload, ...texts });
  if (checked.kind === 'refused') return checked;
  const { fields } = checked;
  const { summary, description } = fields;
  if (isBlankText(summary) || isBlankText(description))
    return invalidField('summary and description are required');
  const rating = ratingOf(fields);
  if ('kind' in rating) return rating;
  const text = reportText(description, publishedAddress(c.req.raw, c.var.config));
  const excess = utf8(text).byteLength - MAX_DESCRIPTION_BYTES;
  if (excess > 0)
    return invalidField(`description must have at most ${utf8(description).byteLength - excess} bytes`);
  const problem = (await refusePost(c)) ?? textProblem(c, repository, { summary, description });
  if (problem !== null) return problem;
  const report = {
    summary: summary.trim(),
    description: text,
    rating,
    package: { ecosystem: fields.ecosystem ?? 'other', name: fields.package?.trim() || repository.name },
    vulnerableVersions: fields.vulnerable_version_range?.trim() ?? '',
    patchedVersions: fields.patched_versions?.trim() ?? '',
    cweIds: fields.cwe_ids ?? [],
  } as const;
  return { kind: 'report', report };
}

function ratingOf({
  severity,
  cvss_vector_string,
}: z.infer<typeof reportRequest>): PrivateReport['rating'] | Refused {
  const [isRated, isVector] = [severity ?? null, cvss_vector_string ?? null].map((value) => value !== null);
  if (isRated === isVector) return invalidField('send either severity or cvss_vector_string');
  return severity ? { severity } : { cvss_vector_string: cvss_vector_string ?? '' };
}

/** Refuses what issues are refused for, in the words of these fields. */
function textProblem(
  c: Context<AppEnv>,
  repository: RepositoryName,
  { summary, description }: Readonly<Record<'summary' | 'description', string>>,
): Refused | null {
  const read = { summary: readMarkdown(summary), description: readMarkdown(description) };
  const problem =
    titleProblem(summary)?.replace(/^title\b/, 'summary') ??
    footerProblem(read.description)?.replace(/^body\b/, 'description') ??
    noiseProblem(read, { hostUrl: c.var.host.url, repository });
  return problem === null ? null : invalidField(problem);
}
