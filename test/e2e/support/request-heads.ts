/**
 * Heads of requests as they may look when they reach another server: for each kind of request,
 * every header field with its spelling, its place and its value. Whatever is not written down here
 * was added by somebody.
 */
import type { CapturedRequest } from '../../../sandbox/capture.ts';

/** `Name: value`, both as patterns. In front of those that may be missing stands a `?`. */
type Fields = readonly string[];

interface Kind {
  readonly name: string;
  /** A pattern of the method and the path. */
  readonly requests: RegExp;
  readonly fields: Fields;
}

const HOST = 'Host: [a-z0-9.]+(:\\d+)?';
const GIT_AGENT = 'User-Agent: git/2\\.0';
const GIT_PROTOCOL = '?Git-Protocol: [a-z0-9.=:-]+';
const BOT_ON_GIT = 'Authorization: Basic [A-Za-z0-9+/=]+';
const GZIP = 'Accept-Encoding: gzip';
const LENGTH = 'Content-Length: \\d+';
const LENGTH_OR_CHUNKS = '(Content-Length: \\d+|Transfer-Encoding: chunked)';
const JSON_TYPE = 'Content-Type: application/json(; charset=utf-8)?';
const REST = [
  HOST,
  'User-Agent: gitveil',
  'Accept: application/vnd\\.github\\.v3\\+json',
  'Authorization: token [\\x21-\\x7e]+',
  'X-GitHub-Api-Version: 2022-11-28',
];

const KINDS: readonly Kind[] = [
  {
    name: 'discovery of references',
    requests: /^GET \/[^/]+\/[^/]+\.git\/info\/refs\?/,
    fields: [HOST, GIT_AGENT, GIT_PROTOCOL, GZIP],
  },
  {
    name: 'asking what receive-pack can do',
    requests: /^GET \/[^/]+\/[^/]+\.git\/info\/refs\?service=git-receive-pack$/,
    fields: [HOST, GIT_AGENT, BOT_ON_GIT, GZIP],
  },
  {
    name: 'upload-pack',
    requests: /^POST \/[^/]+\/[^/]+\.git\/git-upload-pack$/,
    fields: [
      HOST,
      GIT_AGENT,
      'Accept: application/x-git-upload-pack-result',
      `?${BOT_ON_GIT}`,
      GIT_PROTOCOL,
      '?Content-Encoding: gzip',
      'Content-Type: application/x-git-upload-pack-request',
      GZIP,
      LENGTH_OR_CHUNKS,
    ],
  },
  {
    name: 'receive-pack',
    requests: /^POST \/[^/]+\/[^/]+\.git\/git-receive-pack$/,
    fields: [
      HOST,
      GIT_AGENT,
      'Accept: application/x-git-receive-pack-result',
      BOT_ON_GIT,
      'Content-Type: application/x-git-receive-pack-request',
      GZIP,
      LENGTH_OR_CHUNKS,
    ],
  },
  {
    name: 'asking whether a host can be used',
    requests:
      /^(GET \/api\/v[13]\/(version|settings\/repository|user|notifications\?limit=1)|POST \/api\/v1\/repos\/[^/]+\/gitveil-asks-for-its-scopes\/(pulls|issues))$/,
    fields: [
      HOST,
      'User-Agent: gitveil',
      'Accept: application/vnd\\.github\\.v3\\+json',
      '?Authorization: token [\\x21-\\x7e]+',
      `?${JSON_TYPE}`,
      GZIP,
      `?${LENGTH}`,
    ],
  },
  {
    name: 'reading a patch by REST',
    requests: /^GET \/api\/v3\/repos\/[^/]+\/[^/]+\/pulls\/\d+$/,
    fields: REST.map((field) => field.replace('v3\\+json', 'patch')).concat(GZIP),
  },
  {
    name: 'asking whether the account of the bot is shown to everybody',
    requests: /^GET \/api\/v3\/users\/[^/?]+$/,
    fields: [...REST.filter((field) => !field.startsWith('Authorization')), GZIP],
  },
  {
    name: 'asking as a GitHub App',
    requests:
      /^(GET \/api\/v3\/(app|(repos\/[^/]+\/[^/]+|repositories\/\d+)\/installation)|POST \/api\/v3\/app\/installations\/\d+\/access_tokens)$/,
    fields: [
      ...REST.map((field) => (field.startsWith('Authorization') ? 'Authorization: Bearer [\\w.-]+' : field)),
      `?${JSON_TYPE}`,
      GZIP,
      `?${LENGTH}`,
    ],
  },
  {
    name: 'reading by REST',
    requests: /^GET \/api\/v[13]\//,
    fields: [...REST, '?If-Modified-Since: [\\w,: ]+', GZIP],
  },
  {
    name: 'writing by REST',
    requests: /^(POST|PATCH) \/api\/v[13]\//,
    fields: [...REST, JSON_TYPE, GZIP, LENGTH],
  },
  {
    name: 'writing by REST without a body',
    requests: /^POST \/api\/v[13]\//,
    fields: [...REST, GZIP, 'Content-Length: 0'],
  },
  { name: 'deleting by REST', requests: /^DELETE \/api\/v[13]\//, fields: [...REST, GZIP] },
  {
    name: 'a notification',
    requests: /^POST \/ntfy\/$/,
    fields: [HOST, 'User-Agent: gitveil', '?Authorization: Bearer [\\x21-\\x7e]+', JSON_TYPE, GZIP, LENGTH],
  },
];

/** Names what a request's head has that it may not have; null: nothing. */
export function strangeHead({ method, path, rawHeaders }: CapturedRequest): string | null {
  const kinds = KINDS.filter(({ requests }) => requests.test(`${method} ${path}`));
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
  const head = lines.map((line) => `${line}\n`).join('');
  return kinds.some(({ fields }) => patternOf(fields).test(head)) ? null : head.replaceAll('\n', ' | ');
}

function patternOf(fields: Fields): RegExp {
  const lines = fields.map((field) => (field.startsWith('?') ? `(${field.slice(1)}\n)?` : `${field}\n`));
  return new RegExp(`^${lines.join('')}$`);
}
