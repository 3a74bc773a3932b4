/**
 * Holds what a service answers against what its /openapi.json says: status, content type, every
 * field of a JSON body, none more and none less, and the code of an error.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean;
}

interface Answer {
  readonly headers?: Readonly<Record<string, { readonly $ref?: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Document {
  readonly components: {
    readonly headers: { readonly ErrorCode: { readonly schema: { readonly enum: (string | null)[] } } };
  };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Answer>> }>>>
  >;
}

const NAME = 'api';
const ERROR_CODE = '#/components/headers/ErrorCode';

export class DescribedApi {
  /** The document as it was sent. */
  readonly text: string;
  readonly #url: string;
  readonly #document: Document;
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: {
      'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
      uri: (text: string) => URL.canParse(text),
    },
  });
  readonly #unseen = new Set<string>();

  private constructor(url: string, text: string) {
    this.#url = url;
    this.text = text;
    this.#document = JSON.parse(text) as Document;
    for (const [path, operations] of Object.entries(this.#document.paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        for (const status of Object.keys(responses)) {
          this.#unseen.add(`${method.toUpperCase()} ${path} ${status}`);
        }
      }
    }
    this.#ajv.addSchema(closed(JSON.parse(text)) as object, NAME);
  }

  static async of(url: string): Promise<DescribedApi> {
    const response = await fetch(`${url}/openapi.json`);
    return new DescribedApi(url, await response.text());
  }

  /** The answers in the description that none has shown yet, such as `GET /health 500`. */
  get unseen(): string[] {
    return [...this.#unseen].toSorted();
  }

  /**
   * Asks, and fails unless the answer has this status and is as described.
   * @param operation method and path of the description: `GET /badge/{owner}/{repo}`.
   */
  async expect(status: number, operation: string, path: string, init: RequestInit = {}): Promise<unknown> {
    const [method = '', template = ''] = operation.split(' ');
    const response = await fetch(`${this.#url}${path}`, { method, redirect: 'manual', ...init });
    const text = await response.text();
    expect(response.status, `${method} ${path}: ${text}`).toBe(status);
    const type = response.headers.get('Content-Type')?.split(';')[0] ?? null;
    const code = response.headers.get('X-Error-Code');
    return this.check({ method, template, status, type, code, text });
  }

  /** Fails unless an answer is as described. The JSON that it holds comes back. */
  check(answer: {
    method: string;
    template: string;
    status: number;
    type: string | null;
    /** Its X-Error-Code. */
    code: string | null;
    text: string;
  }): unknown {
    const { method, template, status, type, code, text } = answer;
    const responses = this.#document.paths[template]?.[method.toLowerCase()]?.responses ?? {};
    const key = status in responses ? `${status}` : 'default';
    const described = responses[key];
    const what = `${method} ${template} ${key}`;
    expect(described, `${what} is described, for ${status}`).toBeDefined();
    this.#unseen.delete(what);
    const types = Object.keys(described?.content ?? {});
    if (types.length === 0) return null;
    expect(types, what).toContain(type);
    if (type !== 'application/json') return null;
    const body = JSON.parse(text) as unknown;
    const pointer = ['paths', template, method.toLowerCase(), 'responses', key, 'content', type, 'schema'];
    const validate = this.#ajv.compile({ $ref: `${NAME}#/${pointer.map(escaped).join('/')}` });
    validate(body);
    expect(validate.errors, `${what}: ${text}`).toBeNull();
    const { ErrorCode } = this.#document.components.headers;
    const codes = described?.headers?.['X-Error-Code']?.$ref === ERROR_CODE ? ErrorCode.schema.enum : [null];
    expect(codes, `${what}: ${text}`).toContain(code);
    return body;
  }
}

/** The same schemas, whose objects have no fields but those they name. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Schema = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  if (copy.properties !== undefined) copy.additionalProperties ??= false;
  return copy;
}

/** RFC 6901, and what a URI's fragment needs. */
function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}
