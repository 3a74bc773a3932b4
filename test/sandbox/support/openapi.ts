/**
 * GitHub's own description of its REST interface, as a judge of our answers. Its schemas are OpenAPI 3.0; what JSON
 * Schema spells differently (`nullable`) is rewritten. Objects are closed besides: a field that GitHub does not
 * describe is one that we made up or misspelt. Error bodies stay open, since the description leaves their `status` out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';

type Schema = Record<string, unknown>;

interface Operation {
  readonly responses: Record<string, Schema>;
}

interface Description {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: Record<string, Record<string, Schema>>;
}

const file = join(
  import.meta.dirname,
  '../../../node_modules/@octokit/openapi/generated/api.github.com.json',
);
const description = JSON.parse(readFileSync(file, 'utf8')) as Description;

const ERROR_SCHEMAS: Readonly<Record<string, string>> = { 422: 'validation-error' };
const OPEN_SCHEMAS = new Set(['basic-error', 'validation-error', 'validation-error-simple']);

const ajv = new Ajv({
  strict: false,
  allErrors: true,
  formats: {
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    date: /^\d{4}-\d\d-\d\d$/,
    uri: (text: string) => URL.canParse(text) && !/[{}]/.test(text),
    'uri-template': true,
    int64: true,
    email: /^\S+@\S+$/,
  },
});

const templates = Object.keys(description.paths)
  .map((path) => ({ path, pattern: pathPattern(path) }))
  // A fixed word outweighs a parameter: `/issues/comments/{id}` comes before `/issues/{number}/comments`.
  .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length);
const validators = new Map<string, ValidateFunction>();

/** What GitHub's description finds wrong with an answer; empty when nothing. */
export function problemsWith(method: string, path: string, status: number, body: unknown): string[] {
  const template = templates.find(
    ({ path: known, pattern }) => pattern.test(path) && description.paths[known]?.[method.toLowerCase()],
  );
  const operation = template && description.paths[template.path]?.[method.toLowerCase()];
  if (!operation) return [`GitHub describes no ${method} ${path}`];
  const schema = bodySchema(operation, status);
  if (schema === undefined) return [`GitHub describes no status ${status} for ${method} ${template.path}`];
  if (schema === null) return body === null ? [] : ['the body should be empty'];
  const key = `${method} ${template.path} ${status}`;
  const validate = validators.get(key) ?? ajv.compile(selfContained(schema, isRefusal(status)));
  validators.set(key, validate);
  if (validate(body)) return [];
  return (validate.errors ?? []).map((error) =>
    [error.instancePath, error.message, JSON.stringify(error.params)].join(' '),
  );
}

/** The schema of a status; null when it has no body; undefined when GitHub would not answer so. */
function bodySchema(operation: Operation, status: number): Schema | null | undefined {
  const response = operation.responses[status];
  if (response) {
    const { content } = dereference(response) as { content?: Record<string, { schema?: Schema }> };
    if (!content) return isRefusal(status) ? errorSchema(status) : null;
    return content['application/json']?.schema;
  }
  return isRefusal(status) ? errorSchema(status) : undefined;
}

/** Errors and redirects may come from any route, though the description lists them at few. */
function isRefusal(status: number): boolean {
  return status >= 300 && status !== 304;
}

function errorSchema(status: number): Schema {
  return { $ref: `#/components/schemas/${ERROR_SCHEMAS[status] ?? 'basic-error'}` };
}

/** The schema with everything that it refers to, in JSON Schema's own spelling. @param isOpen of an error's body. */
function selfContained(schema: Schema, isOpen: boolean): Schema {
  const definitions: Record<string, unknown> = {};
  const convert = (value: unknown, open: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item, open));
    if (value === null || typeof value !== 'object') return value;
    const { $ref } = value as { $ref?: unknown };
    if (typeof $ref === 'string') {
      const name = $ref.split('/').at(-1) ?? '';
      if (!(name in definitions)) {
        definitions[name] = true;
        definitions[name] = convert(dereference({ $ref }), OPEN_SCHEMAS.has(name));
      }
      return { $ref: `#/$defs/${name}` };
    }
    const converted: Schema = Object.fromEntries(
      Object.entries(composed(value as Schema))
        .filter(([key]) => !['example', 'examples', 'discriminator', 'nullable'].includes(key))
        .map(([key, inner]) => [key, key === 'enum' ? inner : convert(inner, open)]),
    );
    const isObject = typeof converted['properties'] === 'object' && converted['type'] === 'object';
    if (isObject && !open) converted['additionalProperties'] ??= false;
    return (value as Schema)['nullable'] === true ? { anyOf: [converted, { type: 'null' }] } : converted;
  };
  const root = convert(schema, isOpen) as Schema;
  return { ...root, $defs: definitions };
}

/** An object said to be several things at once has the fields of all of them. */
function composed(schema: Schema): Schema {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf) || allOf.length < 2) return schema;
  const parts = allOf.map((part: Schema) => composed(dereference(part)));
  return {
    ...rest,
    type: 'object',
    properties: Object.assign({}, ...parts.map((part) => part['properties'])) as Schema,
    required: parts.flatMap((part) => (part['required'] ?? []) as string[]),
  };
}

function dereference(value: Schema): Schema {
  const { $ref } = value;
  if (typeof $ref !== 'string') return value;
  const [, , kind = '', name = ''] = $ref.split('/');
  const found = description.components[kind]?.[name];
  if (!found) throw new Error(`the description lacks ${$ref}`);
  return dereference(found);
}

/** `{ref}`, `{branch}` and `{path}` may hold slashes; other parameters may not. */
function pathPattern(path: string): RegExp {
  const source = path
    .replaceAll(/[.+*]/g, String.raw`\$&`)
    .replaceAll(/\{(ref|branch|path)\}/g, '.+')
    .replaceAll(/\{[^}]+\}/g, '[^/]+');
  return new RegExp(`^${source}$`);
}
