/**
 * Creates an anonymous issue, for the JSON endpoint and for the form: the same checks, in the same order. The bot
 * creates it. After that, an issue is a thread like any other; the token in the answer identifies its author there.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import * as z from 'zod';
import { recordName } from '../../config/hosts.ts';
import { openHostAccess } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import type { NewIssue } from '../../host/code-host.ts';
import { type Failure, HostError } from '../../host-error.ts';
import { openThreads } from '../../host/open.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { characters, issueText, MAX_TEXT_CHARACTERS } from '../../text/footer.ts';
import { footerProblem } from '../../text/footer-room.ts';
import { readMarkdown } from '../../text/markdown.ts';
import { noiseProblem } from '../../text/noise.ts';
import { identityHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { listPseudonym } from '../../stats/recorded-hashes.ts';
import { openingIn, shareOf, writeWants } from '../../limits/wants.ts';
import { guardOf } from '../../objects.ts';
import { publishedAddress } from '../request/public-origin.ts';
import { clientOf } from '../request/client.ts';
import { limitsOf, refusedToPost, refuseTooMany } from '../request/limits.ts';
import { invalidField, type Refused, writeRefusal } from '../request/refused.ts';
import { checkPayload, isBlank, publicText } from '../request/payload.ts';
import type { PostOutcome } from './post-once.ts';
import { countPost, postingTarget } from './posting.ts';

/** The host's limit. */
const MAX_TITLE_CHARACTERS = 256;

export const issueRequest = z.object({
  title: publicText('title')
    .refine((title) => characters(title.trim()) <= MAX_TITLE_CHARACTERS, {
      error: `title must have at most ${MAX_TITLE_CHARACTERS} characters`,
    })
    .meta({ description: 'More than white space.' }),
  body: publicText('body').meta({ description: 'Markdown; more than white space.' }),
  labels: z.array(publicText('labels')).nullish().meta({
    description:
      'Names of labels that the repository has. The host leaves out others, and all of them where the bot may not set labels, as on GitHub, unless the repository has given it the right.',
  }),
});

export const issueAnswer = z
  .object({
    issue_url: z.url().meta({ description: 'The new issue.' }),
    number: z.int().min(1).meta({ description: 'Its number.' }),
    hash: z.string().meta({ description: "The author's pseudonym on this thread.", examples: ['1a2b3c4d'] }),
    karma: z.literal(0).meta({ description: 'Karma begins at 0.' }),
    user_token: z
      .string()
      .meta({ description: 'Send it to write under the same pseudonym again. Nobody can recover it.' }),
    issue_reply_token: z.string().meta({ description: 'The same token, for comments on the issue.' }),
  })
  .meta({ description: 'An issue was created.' });

/**
 * Whether an issue may be created, as far as that depends on its text; `issue` has it as it will stand. Counts an
 * attempt of the client, before its Markdown is read.
 * @param payload the fields of the JSON endpoint.
 */
export async function checkIssue(
  c: Context<AppEnv>,
  repository: RepositoryName,
  payload: Readonly<Record<string, unknown>>,
): Promise<{ readonly kind: 'issue'; readonly issue: NewIssue } | Refused> {
  const texts = { title: payload['title'] ?? '', body: payload['body'] ?? '' };
  const checked = checkPayload(issueRequest, { ...payload, ...texts });
  if (checked.kind === 'refused') return checked;
  const { title, body, labels } = checked.fields;
  if (isBlank(title) || isBlank(body)) return invalidField('title and body are required');
  const text = issueText(body, publishedAddress(c.req.raw, c.var.config));
  const excess = characters(text) - MAX_TEXT_CHARACTERS;
  if (excess > 0) return invalidField(`body must have at most ${characters(body) - excess} characters`);
  const tooMany = await refuseTooMany(c, 'comments');
  if (tooMany !== null) return tooMany;
  const read = { title: readMarkdown(title), body: readMarkdown(body) };
  const problem = footerProblem(read.body) ?? noiseProblem(read, { hostUrl: c.var.host.url, repository });
  if (problem !== null) return invalidField(problem);
  return { kind: 'issue', issue: { title, body: text, labels: labels ?? [] } };
}

/** After `refusePosting` has let it pass. @param userToken of its author. */
export async function createIssue(
  c: Context<AppEnv>,
  target: RepositoryName,
  issue: NewIssue,
  userToken: string,
): Promise<PostOutcome> {
  // Done first: once the issue exists, nothing may fail any more.
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const opening = await postingTarget(c, target, null);
  const wants = writeWants(shareOf(await clientOf(c)));
  const grant = await limitsOf(c).reserve(openingIn(opening, c.var.config.limits.creations, wants));
  if (grant.kind === 'wait') return refusedToPost(c, grant, opening);

  const created = await create(c, target, issue);
  if ('effect' in created) {
    // Without an answer of the host it may be there.
    if (created.effect === 'none') waitUntil(grant.release());
    return writeRefusal(c, 'issue', created);
  }
  const { url, number } = created;
  const hash = identityHash(secret, `${recordName(c.var.host, target)}#${number}`, userToken);
  const { owner, name: repo } = target;
  const place = { kind: 'issue', host: c.var.host.key, owner, repo, number, url } as const;
  const track = () => guardOf(c.env).track(place, null, Date.now());
  countPost(c);
  // The issue is there in any case. Its author enters the list with their first comment otherwise.
  await Promise.all([
    listPseudonym(c.env.DB, hash).catch((error: unknown) =>
      c.var.logger.warn('the list of pseudonyms does not answer', { error }),
    ),
    // Once more, as an object that is just restarting is back at once.
    track()
      .catch(track)
      .catch((error: unknown) => c.var.logger.error('no rollback will close an issue', { error })),
  ]);
  return { kind: 'posted', url, number, karma: 0 };
}

async function create(
  c: Context<AppEnv>,
  target: RepositoryName,
  issue: NewIssue,
): Promise<{ url: string; number: number } | Failure> {
  const { config, host, http } = c.var;
  const threads = openThreads(openHostAccess(c.env, config, host, http));
  try {
    return await threads.createIssue(target, issue);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return error.failure;
  }
}
