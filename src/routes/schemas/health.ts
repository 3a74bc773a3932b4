/** Which code runs (contract, 4.8). */
import * as z from 'zod';

export const healthAnswer = z
  .object({
    status: z.literal('healthy').meta({ description: 'Any answer means that the service runs.' }),
    deployedCommit: z.string().meta({ description: 'The commit that was deployed.' }),
    deployedAt: z
      .union([z.iso.datetime(), z.literal('unknown')])
      .meta({ description: 'When the deployed version was built.' }),
    sourceRepo: z.url().meta({ description: 'Where the source code is published.' }),
    platform: z.boolean().meta({ description: "True on the project's own public instance." }),
    goVersion: z.string().meta({
      description: 'The runtime that runs the code, with its compatibility date.',
      examples: ['workerd 2026-11-01'],
    }),
    verify: z
      .object({
        github: z.url().meta({ description: 'The page of the deployed commit.' }),
        source: z.string().meta({ description: 'How to compare the running code with its source.' }),
      })
      .meta({ description: 'For checking which code runs.' }),
  })
  .meta({ id: 'Health', description: 'Which code runs here.' });

export type HealthAnswer = z.infer<typeof healthAnswer>;
