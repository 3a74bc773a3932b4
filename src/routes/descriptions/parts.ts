/** The parts of the descriptions of endpoints. The schemas are those that the handlers use. */
import { type DescribeRouteOptions, resolver } from 'hono-openapi';
import * as z from 'zod';
import { repositoryParams } from '../schemas/badges.ts';
import { errorAnswer } from '../schemas/errors.ts';

export type Description = DescribeRouteOptions;
type Answer = NonNullable<Description['responses']>[string];
type Content = NonNullable<Extract<Answer, { content?: unknown }>['content']>;
type Security = NonNullable<Description['security']>;
type Parameter = NonNullable<Description['parameters']>[number];

/** Open to everyone, even if the service has a key. */
export const PUBLIC: Security = [];

/** Open to everyone if the service has no key. */
export const KEYED: Security = [{}, { ServiceKey: [] }];

export const TEXT = 'text/plain';
export const HTML = 'text/html';

export function answer(description: string, ...contents: Content[]): Answer {
  return { description, content: Object.assign({}, ...contents) as Content };
}

export function asJson(schema: z.ZodType): Content {
  return { 'application/json': { schema: resolver(schema) } };
}

/** Text for terminals, pages, images, and Git's own formats. */
export function as(...types: string[]): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
}

/** @param messages that the error may contain. */
export function asError(...messages: string[]): Content {
  const schema = resolver(errorAnswer);
  if (messages.length === 0) return { 'application/json': { schema } };
  const examples = messages.map((message, index) => [`message-${index + 1}`, { value: { error: message } }]);
  return { 'application/json': { schema, examples: Object.fromEntries(examples) as Record<string, object> } };
}

export function error(description: string, ...messages: string[]): Answer {
  return answer(description, asError(...messages));
}

/** The fields of `schema` as parameters. */
export function parameters(place: 'path' | 'query', schema: z.ZodType): Parameter[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', examples = [], ...rest } = property as z.core.JSONSchema.JSONSchema;
    const parameter = { in: place, name, description, required: required.includes(name), schema: rest };
    return Object.assign(parameter, examples.length > 0 && { example: examples[0] }) as Parameter;
  });
}

/** The repository in a path. */
export const repository = (): Parameter[] => parameters('path', repositoryParams);

/** Of every endpoint. */
export const FAULT = {
  500: error('The service or its configuration has a fault.', 'internal server error'),
};

export const KEY_REQUIRED = {
  401: error('The service has a key, and the request did not contain it.', 'API key required'),
};

/** Of those that take JSON. */
export const BODY_FAULTS = {
  408: error('The body came too slowly.', 'the request body did not arrive in time; send it again'),
  413: error('The body is over 512 KiB.', 'request body too large'),
};
