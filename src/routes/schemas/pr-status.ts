/** The topic of a pull request (contract, 4.13), and its page. */
import * as z from 'zod';
import { PR_HASH_PATTERN } from '../../push/command/push-options.ts';

export const prStatusParams = z.object({
  hash: z
    .string()
    .toLowerCase()
    .regex(PR_HASH_PATTERN)
    .meta({ description: 'The hash that the push printed: 8 to 40 hexadecimal characters.' }),
});

export const prStatusAnswer = z
  .object({
    hash: z.string().meta({ description: 'The same hash.' }),
    notify_topic: z.string().meta({ description: 'Topic on which its events appear.' }),
    subscribe_url: z.url().meta({ description: 'Where to subscribe to the topic.' }),
  })
  .meta({ description: 'Where the events of a pull request appear.' });

export type PrStatusAnswer = z.infer<typeof prStatusAnswer>;

export const pullRequestPageParams = z.object({
  hash: z
    .string()
    .toLowerCase()
    .regex(/^[0-9a-f]{8,40}(?:\.atom)?$/)
    .meta({ description: 'The hash that the push has shown; with `.atom` behind it, the feed.' }),
});
