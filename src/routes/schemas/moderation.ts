/** Reports (contract, 4.4). */
import * as z from 'zod';
import { characters } from '../../identity/footer.ts';
import type { ModerationState } from '../../identity/moderation.ts';
import { MAX_TOKEN_CHARACTERS } from './comments.ts';
import { publicText } from './text.ts';

export const STATES = ['registered', 'flagged', 'blocked'] as const satisfies readonly ModerationState[];

export const hash = z
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
    accepted: z.boolean().meta({
      description:
        'False: an earlier report from the same network already counts, or the pseudonym is blocked.',
    }),
  })
  .meta({ description: 'The result of a report.' });

/** Short enough for one message to a telephone, also in scripts that take three bytes a letter. */
const MAX_APPEAL_CHARACTERS = 700;
/** With the key of the code host in front, unless it is on the first one. */
const THREAD_PATTERN = /^(?:[^/#\s]+\/){1,2}[^/#\s]+#[1-9]\d{0,14}$/;

export const appealRequest = z
  .object({
    thread: z
      .string()
      .regex(THREAD_PATTERN, { error: 'thread must be owner/repo#number or host/owner/repo#number' })
      .meta({
        description:
          'Where the pseudonym commented. The host is written as in the path of the comment; without one, it is gh.',
        examples: ['octo/hello#7', 'cb/octo/hello#7'],
      }),
    user_token: publicText('user_token').min(1).max(MAX_TOKEN_CHARACTERS).meta({
      description: 'The token of the comments: it shows that the pseudonym is yours.',
    }),
    text: publicText('text')
      .refine((text) => characters(text) <= MAX_APPEAL_CHARACTERS, {
        error: `text must have at most ${MAX_APPEAL_CHARACTERS} characters`,
      })
      .refine((text) => !/(?!\s)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(text), {
        error: 'text must not contain control characters',
      })
      .meta({ description: 'What the operator reads, more than white space. Say nothing that names you.' }),
  })
  .meta({ description: 'Why the reports were wrong.' });

export const appealAnswer = standingAnswer.meta({ description: 'The operator is told of the appeal.' });

export type AppealAnswer = z.infer<typeof appealAnswer>;
export type StandingAnswer = z.infer<typeof standingAnswer>;
export type ReportAnswer = z.infer<typeof reportAnswer>;
