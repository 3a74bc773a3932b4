/**
 * Attaches the description of an endpoint to its handler, from which /openapi.json
 * (routes/service/openapi.ts) collects it.
 * Proved by test/routes/service/openapi.test.ts and test/e2e/people/api-description.test.ts.
 */
import { type DescribeRouteOptions, resolver, uniqueSymbol } from 'hono-openapi';
import * as z from 'zod';
import { MAIN_HOST } from '../config/hosts.ts';
import { CODES, ERROR_CODE, ERROR_CODES, type ErrorCode, type ErrorStatus } from './request/refused.ts';

type Answer = NonNullable<DescribeRouteOptions['responses']>[string];
type Content = NonNullable<Extract<Answer, { content?: unknown }>['content']>;
type Parameter = NonNullable<DescribeRouteOptions['parameters']>[number];

interface Description extends Pick<DescribeRouteOptions, 'summary' | 'description' | 'requestBody'> {
  readonly operationId: string;
  readonly tag: string;
  /** Set if the endpoint needs the service's key, where there is one. */
  readonly isKeyed?: true;
  /** The parameters in the path. */
  readonly path?: z.ZodType;
  readonly query?: z.ZodType;
  readonly header?: z.ZodType;
  /** The JSON object that the endpoint takes. */
  readonly json?: z.ZodType;
  /** The answers, besides those that every endpoint of its kind has. */
  readonly responses: Record<string, Answer>;
}

/**
 * Describes a handler without middleware, unlike hono-openapi's `describeRoute`: so it costs
 * nothing until somebody asks for the document.
 */
export function described<H extends object>(handler: H, description: Description): H {
  return Object.defineProperty(handler, uniqueSymbol, { get: () => ({ spec: toSpec(description) }) });
}

function toSpec(description: Description): DescribeRouteOptions {
  const { tag, isKeyed, path, query, header, json, responses, ...rest } = description;
  const parameters = Object.entries({ path, query, header }).flatMap(([place, schema]) =>
    parametersOf(place, schema),
  );
  return {
    ...rest,
    tags: [tag],
    security: isKeyed === undefined ? [] : [{}, { ServiceKey: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(json !== undefined && { requestBody: { required: true, content: asJson(json) } }),
    responses: withCodes({
      ...FAULT,
      ...(isKeyed === true && KEY_REQUIRED),
      ...(json !== undefined && BODY_FAULTS),
      ...responses,
    }),
  };
}

/**
 * Adds the header with the code of an error to each error in JSON. An example without a code gets
 * that of the status.
 */
function withCodes(responses: Description['responses']): Description['responses'] {
  const all = Object.entries(responses).map(([status, response]) => {
    const { content } = response as { content?: Content };
    const json = content?.['application/json'];
    if (json === undefined || Number(status) < 400) return [status, response] as const;
    for (const example of Object.values(json.examples ?? {}) as { summary?: string }[]) {
      example.summary ??= CODES[Number(status) as ErrorStatus];
    }
    const headers = { [ERROR_CODE]: { $ref: '#/components/headers/ErrorCode' } };
    return [status, { ...response, headers }] as const;
  });
  // An endpoint for which no field can be wrong still refuses invalid HTTP.
  const isComplete = all.some(([status]) => status.startsWith('4'));
  const other = isComplete ? {} : { '4XX': { description: 'The request is not valid HTTP.' } };
  return { ...Object.fromEntries(all), ...other };
}

export const errorCodeHeader = {
  description: 'The error for programs. It stays the same even if the sentence changes.',
  required: true,
  schema: { type: 'string' as const, enum: [...ERROR_CODES] },
};

/**
 * Lists the fields of a schema as parameters.
 * @param place `path`, `query` or `header`.
 */
function parametersOf(place: string, schema: z.ZodType = z.object({})): Parameter[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', examples = [], ...rest } = property as z.core.JSONSchema.JSONSchema;
    const parameter = { in: place, name, description, required: required.includes(name), schema: rest };
    return Object.assign(parameter, examples.length > 0 && { example: examples[0] }) as Parameter;
  });
}

export const TEXT = 'text/plain';
export const HTML = 'text/html';

export function answer(description: string, ...contents: Content[]): Answer {
  return { description, content: Object.assign({}, ...contents) as Content };
}

export function asJson(schema: z.ZodType): Content {
  return { 'application/json': { schema: resolver(schema) } };
}

/** Describes content that is no JSON: text, pages, images, and Git's own formats. */
export function as(...types: string[]): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
}

/** The error of every JSON endpoint (contract, section 4). */
const errorAnswer = z
  .object({ error: z.string().describe('What went wrong, for a person to read.') })
  .meta({ id: 'Error', description: 'Why the request failed.' });

/** An example of an error, with its code if that is not the usual one of the status. */
type Message = string | readonly [message: string, code: ErrorCode];

/** @param messages examples of what the error may say. */
export function asError(...messages: readonly Message[]): Content {
  const schema = resolver(errorAnswer);
  if (messages.length === 0) return { 'application/json': { schema } };
  const examples = messages.map((message, index) => {
    const [text, code] = typeof message === 'string' ? [message] : message;
    return [`message-${index + 1}`, { ...(code && { summary: code }), value: { error: text } }];
  });
  return { 'application/json': { schema, examples: Object.fromEntries(examples) as Record<string, object> } };
}

export function error(description: string, ...messages: readonly Message[]): Answer {
  return answer(description, asError(...messages));
}

export const countSchema = z.int().min(0);
export const NAME = z.string().describe('1 to 100 letters, digits, `-`, `_` or `.`, without `..`.');
export const hostKey = z.string().meta({
  description: 'The key of the code host: `gh`, or one that the operator has added.',
  examples: [MAIN_HOST],
});

/** Names a repository. Only the configuration knows which hosts there are. */
export const repositoryParams = z.object({ host: hostKey, owner: NAME, repo: NAME });

const FAULT = { 500: error('The service or its configuration has a fault.', 'internal server error') };
const KEY_REQUIRED = {
  401: error('The service has a key, and the request did not contain it.', 'API key required'),
};
const BODY_FAULTS = {
  408: error('The body arrived too slowly.', 'the request body did not arrive in time; send it again'),
  413: error(
    'The body is too large: over 512 KiB for a comment or an issue, else over 16 KiB.',
    'request body too large',
  ),
};
