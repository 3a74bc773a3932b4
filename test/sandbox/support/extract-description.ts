/**
 * Makes github-description.json: what the tests of the embedded host read of GitHub's description
 * of its REST interface. The whole of it is a package of 385 MB, so nobody has to install it.
 *
 * After a change of VERSION or OPERATIONS: `npx node test/sandbox/support/extract-description.ts`.
 * It downloads the package with npm, and leaves nothing else behind.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Version of the package `@octokit/openapi`. */
const VERSION = '23.0.2';
const FILE = join(import.meta.dirname, 'github-description.json');
const REPOSITORY = '/repos/{owner}/{repo}';

/**
 * Calls that tests make to the embedded host. `true`: with the first example of each answer, for
 * recordings.test.ts.
 */
const OPERATIONS: Readonly<Record<string, boolean>> = {
  'GET /user': true,
  'GET /users/{username}': false,
  'GET /app': true,
  'GET /app/installations': true,
  'GET /app/hook/config': true,
  'POST /app/installations/{installation_id}/access_tokens': true,
  'GET /notifications': true,
  'PUT /notifications': false,
  'GET /notifications/threads/{thread_id}': false,
  'PATCH /notifications/threads/{thread_id}': false,
  [`GET ${REPOSITORY}`]: false,
  [`DELETE ${REPOSITORY}`]: false,
  [`GET ${REPOSITORY}/installation`]: true,
  [`POST ${REPOSITORY}/forks`]: true,
  [`POST ${REPOSITORY}/merge-upstream`]: true,
  [`GET ${REPOSITORY}/branches`]: false,
  [`GET ${REPOSITORY}/branches/{branch}`]: false,
  [`GET ${REPOSITORY}/contents/{path}`]: false,
  [`GET ${REPOSITORY}/git/commits/{commit_sha}`]: false,
  [`GET ${REPOSITORY}/git/ref/{ref}`]: false,
  [`POST ${REPOSITORY}/git/refs`]: false,
  [`PATCH ${REPOSITORY}/git/refs/{ref}`]: false,
  [`DELETE ${REPOSITORY}/git/refs/{ref}`]: false,
  [`GET ${REPOSITORY}/issues`]: false,
  [`POST ${REPOSITORY}/issues`]: false,
  [`GET ${REPOSITORY}/issues/{issue_number}`]: false,
  [`PATCH ${REPOSITORY}/issues/{issue_number}`]: false,
  [`GET ${REPOSITORY}/issues/{issue_number}/comments`]: true,
  [`POST ${REPOSITORY}/issues/{issue_number}/comments`]: true,
  [`GET ${REPOSITORY}/issues/comments/{comment_id}`]: false,
  [`PATCH ${REPOSITORY}/issues/comments/{comment_id}`]: false,
  [`DELETE ${REPOSITORY}/issues/comments/{comment_id}`]: false,
  [`POST ${REPOSITORY}/issues/comments/{comment_id}/reactions`]: false,
  [`GET ${REPOSITORY}/private-vulnerability-reporting`]: false,
  [`GET ${REPOSITORY}/pulls`]: true,
  [`POST ${REPOSITORY}/pulls`]: false,
  [`GET ${REPOSITORY}/pulls/{pull_number}`]: true,
  [`PATCH ${REPOSITORY}/pulls/{pull_number}`]: true,
  [`GET ${REPOSITORY}/pulls/{pull_number}/commits`]: false,
  [`GET ${REPOSITORY}/pulls/{pull_number}/reviews`]: true,
  [`POST ${REPOSITORY}/security-advisories/reports`]: true,
};
/**
 * Lists whose entries the description has once as a schema, and once spelt out wrongly: it says
 * that each account is a user and an enterprise at once.
 */
const ENTRIES: Readonly<Record<string, string>> = {
  'GET /app/installations': '#/components/schemas/installation',
};
/** Schemas of refusals, with which any operation may answer. */
const ALWAYS = ['#/components/schemas/basic-error', '#/components/schemas/validation-error'];

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: JsonObject }>>>>;
  readonly components: Readonly<Record<string, JsonObject>>;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names of the words for people in a schema. Names of properties are not among them. */
const WORDS = new Set(['description', 'title', 'example', 'examples', 'externalDocs', 'headers']);

/** @param areNames whether the keys are names, and no words of the language of schemas. */
function withoutWords(value: Json, areNames = false): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutWords(item));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => areNames || !(WORDS.has(key) || key.startsWith('x-')));
  return Object.fromEntries(
    kept.map(([key, inner]) => [
      key,
      key === 'enum' ? inner : withoutWords(inner, !areNames && key === 'properties'),
    ]),
  );
}

/** Adds to `found` everything that the value refers to, and what that refers to. */
function follow(value: Json, components: Description['components'], found: Map<string, Json>): void {
  if (typeof value !== 'object' || value === null) return;
  const { $ref } = value as JsonObject;
  if (typeof $ref === 'string' && !found.has($ref)) {
    const [, , kind = '', name = ''] = $ref.split('/');
    const target = withoutWords(components[kind]?.[name] ?? null);
    found.set($ref, target);
    follow(target, components, found);
  }
  for (const inner of Object.values(value)) follow(inner, components, found);
}

/** The first example of an answer, by its value. */
function exampleOf(response: Json, components: Description['components']): JsonObject {
  const json = (response as { content?: { 'application/json'?: { examples?: JsonObject } } }).content?.[
    'application/json'
  ];
  const [first] = Object.values(json?.examples ?? {});
  if (!isObject(first)) return {};
  const { $ref } = first;
  const example = typeof $ref === 'string' ? components['examples']?.[$ref.split('/').at(-1) ?? ''] : first;
  return { example: (example as { value: Json }).value };
}

function download(): Description {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-description-'));
  const inFolder = { cwd: folder, encoding: 'utf8' } as const;
  try {
    const archive = execFileSync('npm', ['pack', '--silent', `@octokit/openapi@${VERSION}`], inFolder).trim();
    const name = 'package/generated/api.github.com.json';
    execFileSync('tar', ['-xzf', archive, name], inFolder);
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as Description;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { paths, components } = download();
const operations: Record<string, JsonObject> = {};
const found = new Map<string, Json>();
for (const $ref of ALWAYS) follow({ $ref }, components, found);
for (const [operation, hasExamples] of Object.entries(OPERATIONS)) {
  const [method = '', path = ''] = operation.split(' ');
  const described = paths[path]?.[method.toLowerCase()];
  if (described === undefined) throw new Error(`GitHub describes no ${operation}`);
  const $ref = ENTRIES[operation];
  const list = {
    content: { 'application/json': { schema: { type: 'array', items: { $ref: $ref ?? '' } } } },
  };
  const responses = Object.entries(described.responses).map(([status, response]) => {
    const kept = withoutWords($ref !== undefined && status === '200' ? list : response);
    follow(kept, components, found);
    return [
      status,
      { ...(kept as JsonObject), ...(hasExamples && exampleOf(response, components)) },
    ] as const;
  });
  operations[operation] = Object.fromEntries(responses);
}
/** One of them on a line, so that a change can be read. */
const lines = (entries: Readonly<Record<string, Json>>): string =>
  Object.entries(entries)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(',\n');
const referred = Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(
  FILE,
  `{"source": "@octokit/openapi ${VERSION}", "operations": {\n${lines(operations)}\n}, "components": {\n${lines(referred)}\n}}\n`,
);
