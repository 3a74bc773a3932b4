/** Writes a command that tries out an operation. */
import { type ApiDocument, type ApiOperation, resolved, type Schema, type Value } from './document.ts';

/** Values for paths and fields whose schema has no example. */
const PLACEHOLDERS: Readonly<Record<string, Value>> = {
  owner: 'octo',
  repo: 'hello',
  hash: '0123456789ab',
  number: 1,
  title: 'It does not start',
  body: 'Thanks!',
  active: true,
  password: '<password>',
};

/** Answers `null` if a Git client or a form sends the request, not a person. */
export function commandOf(
  document: ApiDocument,
  method: string,
  path: string,
  operation: ApiOperation,
): string | null {
  const { parameters = [], requestBody, security } = operation;
  const content = requestBody?.content ?? {};
  if (requestBody !== undefined && content['application/json'] === undefined) return null;
  const filled = parameters.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, String(example ?? PLACEHOLDERS[name] ?? name)),
    path,
  );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(
      ({ name, example, schema }) =>
        `${name}=${String(example ?? schema.enum?.[0] ?? PLACEHOLDERS[name] ?? name)}`,
    );
  const url = `${document.servers?.[0]?.url ?? ''}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const key = security.length > 0 ? ` -H 'X-Service-Key: <key, if there is one>'` : '';
  const command = `curl '${url}'${key}${isPageOrJson(operation) ? ` -H 'Accept: application/json'` : ''}`;
  if (method === 'GET') return command;
  const sent = JSON.stringify(exampleOf(document, content['application/json']?.schema ?? {}));
  return `${command} -H 'Content-Type: application/json' \\\n  -d '${sent}'`;
}

/** Whether the operation answers with a page unless JSON is asked for. A terminal wants JSON. */
function isPageOrJson({ responses }: ApiOperation): boolean {
  const content = responses['200']?.content ?? {};
  return 'text/html' in content && 'application/json' in content;
}

/** Gives values to the required fields, and to the password where there is one. */
function exampleOf(document: ApiDocument, schema: Schema): Record<string, Value> {
  const { properties = {}, required = [] } = resolved(document, schema);
  const shown = Object.entries(properties).filter(([name]) => required.includes(name) || name === 'password');
  return Object.fromEntries(
    shown.map(([name, property]) => [
      name,
      resolved(document, property).examples?.[0] ?? PLACEHOLDERS[name] ?? name,
    ]),
  );
}
