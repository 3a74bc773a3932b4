/**
 * Serves GET /.well-known/security.txt (RFC 9116), which says whom to tell of a weakness in this
 * running service.
 * Proved by test/routes/service/operator-contact.test.ts.
 */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { systemClock } from '../../isolate/clock.ts';
import { answer, as, described, error, TEXT } from '../description.ts';
import { answerRefused, refused } from '../request/refused.ts';

const DAY_MS = 86_400_000;
/** How long a copy is valid; RFC 9116, 2.5.5, recommends less than a year. */
const LIFE_DAYS = 180;
const NO_CONTACT = refused(404, 'the operator of this service has set no OPERATOR_CONTACT');

export const securityTxt = new Hono<AppEnv>();

securityTxt.get(
  '/.well-known/security.txt',
  described(showContact, {
    operationId: 'showSecurityContact',
    summary: 'Where to report a weakness',
    description: 'In the form of RFC 9116.',
    tag: 'Service',
    responses: {
      200: answer(
        'The operator’s contact, its expiry date, and the security policy of the program.',
        as(TEXT),
      ),
      404: error('The operator names no contact.', NO_CONTACT.error),
    },
  }),
);

function showContact(c: Context<AppEnv>): Response | Promise<Response> {
  const { operatorContact, sourceRepo, serviceUrl, isServiceUrlGiven } = c.var.config;
  if (operatorContact === null) return answerRefused(c, NO_CONTACT);
  const today = Math.floor(systemClock.now() / DAY_MS) * DAY_MS;
  const lines = [
    `Contact: ${operatorContact.url}`,
    `Expires: ${new Date(today + LIFE_DAYS * DAY_MS).toISOString()}`,
    // The program's own policy, for weaknesses that concern every service.
    `Policy: ${sourceRepo}/blob/HEAD/SECURITY.md`,
    'Preferred-Languages: en',
  ];
  if (isServiceUrlGiven && serviceUrl.startsWith('https:'))
    lines.push(`Canonical: ${serviceUrl}/.well-known/security.txt`);
  return c.text(`${lines.join('\n')}\n`);
}
