/** Anonymous comments (contract, 4.1 and 4.2). */
import * as z from 'zod';
import { publicText } from './text.ts';

export const MAX_TOKEN_CHARACTERS = 256;

export const commentRequest = z.object({
  body: publicText('body').meta({ description: 'Markdown; more than white space.', examples: ['Thanks!'] }),
  user_token: publicText('user_token')
    .max(MAX_TOKEN_CHARACTERS, { error: `user_token must have at most ${MAX_TOKEN_CHARACTERS} characters` })
    .nullish()
    .meta({
      description:
        'The token of an earlier comment, to write under the same pseudonym. Without it, you get a new one.',
    }),
});

export const commentAnswer = z
  .object({
    comment_url: z.url().meta({ description: 'The posted comment.' }),
    hash: z.string().meta({ description: "The author's pseudonym on this thread.", examples: ['1a2b3c4d'] }),
    karma: z.int().min(0).meta({ description: 'Karma on this thread after this comment.' }),
    user_token: z
      .string()
      .meta({ description: 'Send it to write under the same pseudonym again. Nobody can recover it.' }),
  })
  .meta({ description: 'A comment was posted.' });

export type CommentAnswer = z.infer<typeof commentAnswer>;
