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
  .meta({ description: 'The pseudonym to report, as JSON or as a form.' });

export const standingAnswer = z
  .object({
    hash,
    reports: z.int().min(0).meta({ description: 'Reports of the last 30 days.' }),
    state: z
      .enum(STATES)
      .meta({ description: 'flagged: 3 reports, no comments for 6 hours. blocked: 6 reports, permanent.' }),
  })
  .meta({ description: 'The reports about a pseudonym and its state.' });

export const reportAnswer = standingAnswer
  .extend({
    accepted: z
      .boolean()
      .meta({ description: 'False: an earlier report from the same address already counts.' }),
  })
  .meta({ description: 'The result of a report.' });

export type StandingAnswer = z.infer<typeof standingAnswer>;
export type ReportAnswer = z.infer<typeof reportAnswer>;
