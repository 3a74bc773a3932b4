/**
 * Turns an OpenAPI document into what the page shows: groups of operations, each with its fields as
 * flat rows and a command to try. Pure: an OpenAPI document in, plain data out.
 */
import { commandOf } from './command.ts';
import type { ApiDocument, ApiOperation, Content } from './document.ts';
import { type Field, field, fieldsOf } from './fields.ts';

export interface Outcome {
  readonly status: string;
  readonly description: string;
  readonly types: readonly string[];
  /** Fields of a successful JSON answer. */
  readonly fields: readonly Field[];
  /** Texts that an error may contain. */
  readonly messages: readonly string[];
}

export interface Parameter extends Field {
  /** `path`, `query` or `header`. */
  readonly place: string;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly mayNeedKey: boolean;
  readonly parameters: readonly Parameter[];
  readonly requestType: string | null;
  readonly requestFields: readonly Field[];
  readonly outcomes: readonly Outcome[];
  /** `null` if a Git client or a form sends the request, not a person. */
  readonly command: string | null;
}

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

export function outline(document: ApiDocument): Group[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0],
      operation: operationOf(document, method.toUpperCase(), path, operation),
    })),
  );
  return (document.tags ?? []).map(({ name, description = '' }) => ({
    name,
    description,
    operations: operations.filter(({ tag }) => tag === name).map(({ operation }) => operation),
  }));
}

function operationOf(
  document: ApiDocument,
  method: string,
  path: string,
  operation: ApiOperation,
): Operation {
  const [requestType = null] = Object.keys(operation.requestBody?.content ?? {});
  const requestSchema =
    requestType === null ? undefined : operation.requestBody?.content[requestType]?.schema;
  return {
    id: operation.operationId,
    method,
    path,
    summary: operation.summary,
    description: operation.description ?? '',
    mayNeedKey: operation.security.length > 0,
    parameters: (operation.parameters ?? []).map(
      ({ in: place, name, required = false, description = '', schema }) =>
        Object.assign(field(document, name, schema, required), { place, description }),
    ),
    requestType,
    requestFields: requestSchema === undefined ? [] : fieldsOf(document, requestSchema),
    outcomes: Object.entries(operation.responses).map(([status, { description, content = {} }]) => ({
      status,
      description,
      types: Object.keys(content),
      fields: Number(status) < 400 ? fieldsOf(document, content['application/json']?.schema ?? {}) : [],
      messages: messagesOf(content),
    })),
    command: commandOf(document, method, path, operation),
  };
}

function messagesOf(content: Content): string[] {
  const values = Object.values(content['application/json']?.examples ?? {}).map(({ value }) => value);
  return values.flatMap((value) => ((value as { error?: unknown }).error as string | undefined) ?? []);
}
