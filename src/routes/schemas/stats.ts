/** Statistics (contract, 4.11 and 4.12). */
import * as z from 'zod';

export const statsAnswer = z
  .object({
    total_prs: z.int().min(0).meta({ description: 'Pull requests of all time.' }),
    last_updated: z.iso
      .datetime()
      .optional()
      .meta({ description: 'When the newest was opened. Absent if there is none.' }),
  })
  .meta({ description: 'How many pull requests the service has opened.' });

const pullRequest = z
  .object({
    id: z.int().meta({ description: 'Number of the record.' }),
    host: z
      .string()
      .meta({ description: 'The key of the code host: `gh`, or one that the operator has added.' }),
    owner: z.string().meta({ description: "The repository's owner." }),
    repo: z.string().meta({ description: "The repository's name." }),
    pr_url: z.url().meta({ description: 'The pull request on the code host.' }),
    created_at: z.iso.datetime().meta({ description: 'When it was opened.' }),
  })
  .meta({ description: 'One pull request.' });

export const recentPrsAnswer = z
  .object({
    prs: z.array(pullRequest).max(10).meta({ description: 'Newest first.' }),
    total: z.int().min(0).meta({ description: 'Pull requests of all time.' }),
  })
  .meta({ description: 'The newest pull requests.' });

export type StatsAnswer = z.infer<typeof statsAnswer>;
export type RecentPrsAnswer = z.infer<typeof recentPrsAnswer>;
