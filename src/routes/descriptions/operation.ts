/** Describes what the operator uses (contract, 4.10, 4.16 and 4.17; pardons). */
import type { Hono } from 'hono';
import { describeRoute, resolver } from 'hono-openapi';
import { NOTHING_TO_PARDON } from '../moderation/admin.ts';
import {
  panicAnswer,
  panicRequest,
  pardonAnswer,
  pardonRequest,
  rollbackAnswer,
  rollbackRequest,
} from '../schemas/admin.ts';
import { statusAnswer } from '../schemas/status.ts';
import { answer, asJson, BODY_FAULTS, error, FAULT, PUBLIC } from './parts.ts';

const COMMON = { tags: ['Operation'], security: PUBLIC };

const INVALID = error('The request is not valid.', 'invalid payload');
const UNAUTHORIZED = error('Neither the password nor the token is correct.', 'invalid credentials');

export function describeOperation(app: Hono): void {
  app.get(
    '/api/status',
    describeRoute({
      ...COMMON,
      operationId: 'status',
      summary: 'Whether pushes are accepted',
      responses: { 200: answer('The state of the panic switch.', asJson(statusAnswer)), ...FAULT },
    }),
  );
  app.post(
    '/admin/panic',
    describeRoute({
      ...COMMON,
      operationId: 'setPanicMode',
      summary: 'Suspend pushes, comments and issues, or accept them again',
      description: 'With the password of the operator, or with the token of an alert button.',
      requestBody: { required: true, content: { 'application/json': { schema: resolver(panicRequest) } } },
      responses: {
        200: answer('The switch is set.', asJson(panicAnswer)),
        400: INVALID,
        401: UNAUTHORIZED,
        429: error('The address has sent 10 requests within a minute.', 'rate limit exceeded'),
        ...BODY_FAULTS,
        ...FAULT,
      },
    }),
  );
  app.post(
    '/admin/pardon',
    describeRoute({
      ...COMMON,
      operationId: 'pardon',
      summary: 'Lift what reports have led to',
      description:
        'The pseudonym may post again, gets back its karma, and comments that are left show theirs again. Reports until now count no more, and their senders cannot repeat them within 30 days of sending them. Deleted comments stay deleted.',
      requestBody: { required: true, content: { 'application/json': { schema: resolver(pardonRequest) } } },
      responses: {
        200: answer('It is pardoned.', asJson(pardonAnswer)),
        400: INVALID,
        401: UNAUTHORIZED,
        404: error('There is nothing to pardon.', NOTHING_TO_PARDON),
        429: error('The address has sent 10 requests within a minute.', 'rate limit exceeded'),
        ...BODY_FAULTS,
        ...FAULT,
      },
    }),
  );
  app.post(
    '/admin/rollback',
    describeRoute({
      ...COMMON,
      operationId: 'rollBack',
      summary: 'Close the pull requests of a burst',
      description: 'Closes the pull requests that bursts have opened within the last two hours.',
      requestBody: { required: true, content: { 'application/json': { schema: resolver(rollbackRequest) } } },
      responses: {
        200: answer(
          'Which pull requests were closed, and which could not be closed.',
          asJson(rollbackAnswer),
        ),
        400: INVALID,
        401: UNAUTHORIZED,
        429: error(
          'The address has sent 5 rollbacks, or 10 requests, within a minute.',
          'rate limit exceeded',
        ),
        ...BODY_FAULTS,
        ...FAULT,
      },
    }),
  );
}
