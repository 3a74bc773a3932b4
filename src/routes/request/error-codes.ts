/** What programs tell errors apart by: one for each status, and more where the next step differs. They never change. */

/** The header of an answer in JSON that has it. */
export const ERROR_CODE = 'X-Error-Code';

export const CODES = {
  400: 'invalid-request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  408: 'body-incomplete',
  409: 'conflict',
  413: 'body-too-large',
  415: 'unsupported-type',
  422: 'key-reused',
  429: 'too-many-requests',
  500: 'internal-error',
  502: 'host-unreachable',
  503: 'unavailable',
} as const;

export const ERROR_CODES = [
  ...Object.values(CODES),
  /** The body is no JSON object. */
  'invalid-payload',
  /** The message names the field. */
  'invalid-field',
  /** The host does not take it: the repository or the thread may be missing. */
  'not-created',
  /** The repository does not take this kind of contribution. */
  'not-accepted',
  /** The pseudonym. */
  'blocked',
  'cooldown',
  /** The host has not answered, so it may have been posted. */
  'may-exist',
  'suspended',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export type ErrorStatus = keyof typeof CODES;
