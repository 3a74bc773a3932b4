/**
 * GitHub's own description of its REST interface, as a judge of our answers: of the operations that
 * extract-description.ts has taken out of it. Its schemas are OpenAPI 3.0; what JSON Schema spells
 * differently (`nullable`) is rewritten. Objects are closed besides: a field that GitHub does not
 * describe is one that we made up or misspelt. Error bodies stay open, since the description leaves
 * their `status` out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';

type Schema = Record<string, unknown>;

interface Description {
  /** Schemas by method and template of the path, then by status. */
  readonly operations: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
  /** Schemas by the value of a `$ref`. */
  readonly components: Readonly<Record<string, Schema>>;
}

const file = join(import.meta.dirname, 'github-description.json');
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

const operations = Object.entries(description.operations)
  .map(([name, responses]) => {
    const [method = '', path = ''] = name.split(' ');
    return { name, method, pattern: pathPattern(path), responses };
  })
  // A fixed word outweighs a parameter: `/issues/comments/{id}` comes before
  // `/issues/{number}/comments`.
  .toSorted((a, b) => a.name.split('{').length - b.name.split('{').length);
const validators = new Map<string, ValidateFunction>();

/** The first example of an answer. @throws Error */
export function example(method: string, template: string, status: number): unknown {
  const found = description.operations[`${method} ${template}`]?.[status]?.['example'];
  if (found === undefined) throw new Error(`no example of ${method} ${template}: ${HOW_TO_ADD}`);
  return found;
}

const HOW_TO_ADD =
  'if GitHub describes it, add it to OPERATIONS in test/sandbox/support/extract-description.ts, and run ' +
  '"npx node test/sandbox/support/extract-description.ts"';

/** Lists the differences between an answer and GitHub's description; none if it fits. */
export function problemsWith(method: string, path: string, status: number, body: unknown): string[] {
  const operation = operations.find((known) => known.method === method && known.pattern.test(path));
  if (!operation) return [`there is no description of ${method} ${path}: ${HOW_TO_ADD}`];
  const schema = bodySchema(operation, status);
  if (schema === undefined) return [`GitHub describes no status ${status} for ${operation.name}`];
  if (schema === null) return body === null ? [] : ['the body should be empty'];
  const key = `${operation.name} ${status}`;
  const validate = validators.get(key) ?? ajv.compile(selfContained(schema, isRefusal(status)));
  validators.set(key, validate);
  if (validate(body)) return [];
  return (validate.errors ?? []).map((error) =>
    [error.instancePath, error.message, JSON.stringify(error.params)].join(' '),
  );
}

/** The schema of a status; null when it has no body; undefined when GitHub would not answer so. */
function bodySchema(
  { responses }: { readonly responses: Readonly<Record<string, Schema>> },
  status: number,
): Schema | null | undefined {
  const response = responses[status];
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

/**
 * The schema with everything that it refers to, in JSON Schema's own spelling.
 * @param isOpen of an error's body.
 */
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
  const found = description.components[$ref];
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
