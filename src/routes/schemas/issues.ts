/** Anonymous issues (contract, 4.3). */
import * as z from 'zod';
import { characters } from '../../identity/footer.ts';
import { publicText } from './text.ts';

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

export type IssueAnswer = z.infer<typeof issueAnswer>;
