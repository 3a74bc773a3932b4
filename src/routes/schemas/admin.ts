/** The operator's endpoints (contract, 4.16 and 4.17), and pardons. */
import * as z from 'zod';
import { PANIC_SCOPES } from '../../guard/panic-scope.ts';
import { hash, STATES } from './moderation.ts';

const credential = {
  password: z.string().optional().meta({ description: 'The password of the operator.' }),
  token: z.string().optional().meta({
    description: 'The token of an alert button. It works once, for one action, within ten minutes.',
  }),
};

export const panicRequest = z.object({
  ...credential,
  active: z.boolean().meta({ description: 'True: reject pushes. False: accept them again.' }),
  scope: z.enum(PANIC_SCOPES).optional().meta({
    description:
      '`pushes` (default), `writes` for comments and issues, or `all`. What is not named stays as it is.',
  }),
});

export const panicAnswer = z
  .object({
    panic_mode: z.boolean().meta({ description: 'Whether pushes are rejected now.' }),
    state: z
      .enum(['activated', 'deactivated'])
      .meta({ description: 'What was done: `activated` or `deactivated`, for the scope of the request.' }),
  })
  .meta({ description: 'The panic switch is set.' });

export const rollbackRequest = z.object({
  ...credential,
  spare_single: z.boolean().optional().meta({
    description: 'True: leave alone the pull requests of clients that opened only one. Default: false.',
  }),
});

export const rollbackAnswer = z
  .object({
    closed: z.int().min(0).meta({ description: 'How many pull requests were closed.' }),
    failed: z.int().min(0).meta({ description: 'How many could not be closed. Call again to close them.' }),
    closed_urls: z.array(z.url()).meta({ description: 'Those that were closed.' }),
    failed_urls: z.array(z.url()).meta({ description: 'Those that could not be closed.' }),
  })
  .meta({ description: 'The pull requests of bursts within the last two hours were closed.' });

export const pardonRequest = z.object({
  ...credential,
  hash: hash.meta({ description: 'The pseudonym.' }),
});

export const pardonAnswer = z
  .object({
    hash,
    state: z.enum(STATES).meta({ description: 'Where it stands now.' }),
    reports: z.int().min(0).meta({ description: 'Reports that count now.' }),
    restoring: z.int().min(0).meta({
      description: 'Comments that get back the karma that they showed. Deleted comments stay deleted.',
    }),
    log: z
      .array(
        z.object({
          event: z.enum(['flagged', 'blocked', 'pardoned', 'appealed']),
          at: z.iso.datetime().meta({ description: 'When.' }),
        }),
      )
      .meta({ description: "The pseudonym's log of the last 90 days, oldest first." }),
  })
  .meta({ description: 'The pseudonym is pardoned.' });

export type PardonAnswer = z.infer<typeof pardonAnswer>;
export type PanicAnswer = z.infer<typeof panicAnswer>;
export type RollbackAnswer = z.infer<typeof rollbackAnswer>;
