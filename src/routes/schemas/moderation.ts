/** Reports (contract, 4.4). */
import * as z from 'zod';
import type { ModerationState } from '../../identity/moderation.ts';

const STATES = ['registered', 'flagged', 'blocked'] as const satisfies readonly ModerationState[];

const hash = z
  .string()
  .regex(/^[0-9a-f]{8}$/)
  .meta({
    description: 'The pseudonym: the 8 hexadecimal characters behind "anon-".',
    examples: ['1a2b3c4d'],
  });

export const reportQuery = z.object({ hash });

export const reportRequest = z
  .object({ hash })
  .meta({ description: 'Whom to report; as JSON, or as a form with the same field.' });

export const standingAnswer = z
  .object({
    hash,
    reports: z.int().min(0).meta({ description: 'Reports of the last 30 days.' }),
    state: z
      .enum(STATES)
      .meta({ description: 'flagged: 3 reports, a pause of 6 hours. blocked: 6 reports, for good.' }),
  })
  .meta({ description: 'Where a pseudonym stands.' });

export const reportAnswer = standingAnswer
  .extend({
    accepted: z
      .boolean()
      .meta({ description: 'False: an earlier report from the same address counts already.' }),
  })
  .meta({ description: 'What became of a report.' });

export type StandingAnswer = z.infer<typeof standingAnswer>;
export type ReportAnswer = z.infer<typeof reportAnswer>;
