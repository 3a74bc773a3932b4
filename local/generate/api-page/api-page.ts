/** Generates GET /docs: the API's description for people, made of the document that tools get. */
import { html } from 'hono/html';
import type { Html } from '../../../src/pages/layout.ts';
import type { ApiDocument } from './document.ts';
import type { Field } from './fields.ts';
import { limitsSection } from './limits-section.ts';
import { type Group, type Operation, type Outcome, outline, type Parameter } from './operation-groups.ts';

/**
 * Renders the page. The service fills in its own address and limits: see
 * src/pages/document-page.ts.
 */
export async function apiPage(description: ApiDocument): Promise<string> {
  const document = { ...description, servers: [{ url: '{{service}}' }] };
  const groups = outline(document);
  const content = await html`
    <h1>API</h1>
    <p class="lead">${document.info.description ?? ''}</p>
    ${firstComment(groups)}
    <p>
      Bodies are JSON. Errors are <code>{"error": "&lt;message&gt;"}</code>, a sentence that names what is
      wrong. The header <code>X-Error-Code</code> has a code that stays the same. Most errors of the Git
      remote are plain text. Any web page may call the JSON endpoints (CORS), except for reports, bundles and
      patches; an operator may restrict what other sites post. For tools:
      <a href="/openapi.json">openapi.json</a>.
    </p>
    ${table('all paths', 'In paths', 'Where', inPaths(groups), ({ place }) => place)} ${groups.map(section)}
    ${limitsSection()}
  `;
  return compact(content.toString());
}

/** Removes the spaces of the templates, but keeps a line for each tag, and preformatted text. */
function compact(content: string): string {
  return content
    .split(/(<pre.*?<\/pre>)/s)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/\s+/g, ' ').replaceAll('> <', '>\n<')))
    .join('')
    .trim();
}

const ANSWER = `{
  "comment_url": "https://…/octo/hello/issues/1#issuecomment-1",
  "hash": "1a2b3c4d",
  "karma": 1,
  "user_token": "ABCDEFGHIJKLMNOP"
}`;

function firstComment(groups: readonly Group[]): Html | '' {
  const operations = groups.flatMap((group) => group.operations);
  const command = operations.find(({ id }) => id === 'commentOnIssue')?.command ?? null;
  if (command === null) return '';
  return html`<section class="card" aria-labelledby="first">
    <h2 id="first">Your first comment in 30 seconds</h2>
    <p>Put your repository and the number of its issue into the address. You need no account and no key.</p>
    <pre><code>${command}</code></pre>
    <p class="after-commands">The answer says where the comment is, and under which pseudonym:</p>
    <pre><code>${ANSWER}</code></pre>
    <p class="after-commands">
      Send the <code>user_token</code> with your next comment to write under the same pseudonym. A request
      with a random <code>Idempotency-Key</code> in its header can be sent again if its answer was lost: it is
      posted once.
    </p>
  </section>`;
}

/** Parameters that name a repository, which are described once. */
const OF_REPOSITORY: ReadonlySet<string> = new Set(['host', 'owner', 'repo']);

const isOfRepository = ({ name, place }: Parameter): boolean => place === 'path' && OF_REPOSITORY.has(name);

function inPaths(groups: readonly Group[]): Parameter[] {
  const all = groups.flatMap(({ operations }) => operations.flatMap(({ parameters }) => parameters));
  return [...OF_REPOSITORY].flatMap(
    (name) => all.find((each) => each.name === name && isOfRepository(each)) ?? [],
  );
}

function section({ name, description, operations }: Group): Html {
  const id = `group-${name.toLowerCase().replaceAll(' ', '-')}`;
  return html`<section aria-labelledby="${id}">
    <h2 class="group" id="${id}">${name}</h2>
    <p class="soft">${description}</p>
    <div class="card folded">${operations.map(folded)}</div>
  </section>`;
}

/** An address with an operation's id leads into it, and so unfolds it. */
function folded(operation: Operation): Html {
  const { id, method, path, summary } = operation;
  return html`<details>
    <summary>
      <h3>${summary}</h3>
      <span class="method">${method}</span><code>${breakable(path)}</code>
    </summary>
    <div id="${id}">${unfolded(operation)}</div>
  </details>`;
}

function unfolded(operation: Operation): Html {
  const { summary, description, requestType, outcomes, command } = operation;
  const parameters = operation.parameters.filter((each) => !isOfRepository(each));
  return html`${description === '' ? '' : html`<p>${prose(description)}</p>`}
    ${operation.mayNeedKey ? html`<p class="soft">${prose(KEY)}</p>` : ''}
    ${requestType === null ? '' : html`<p>Takes <code>${requestType}</code>.</p>`}
    ${table(summary, 'Parameters', 'Where', parameters, ({ place }) => place)}
    ${table(summary, 'Fields of the request', 'Needed', operation.requestFields, yesOrNo)}
    ${outcomes.map(({ status, fields }) => table(summary, `Fields of the answer ${status}`, 'Always', fields, yesOrNo))}
    <h4>Answers</h4>
    <dl class="answers">${outcomes.map(answer)}</dl>
    ${
      command === null
        ? ''
        : html`<h4>Try it</h4>
            <pre><code>${command}</code></pre>`
    }`;
}

const KEY = 'Requires `X-Service-Key` if the operator has set a key.';

const yesOrNo = ({ isRequired }: Field): string => (isRequired ? 'yes' : 'no');

/**
 * Renders fields as a table; nothing if there are none.
 * @param extra the column that differs between tables.
 */
function table<F extends Field>(
  operation: string,
  title: string,
  extraTitle: string,
  fields: readonly F[],
  extra: (field: F) => string,
): Html | string {
  if (fields.length === 0) return '';
  const rows = fields.map(
    (field) =>
      html`<tr>
        <th scope="row"><code>${field.name}</code></th>
        <td>${field.type}</td>
        <td>${extra(field)}</td>
        <td>${prose(field.description)}</td>
      </tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}: ${operation}">
    <table>
      <caption>
        ${title}
      </caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">${extraTitle}</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function answer({ status, description, types, messages }: Outcome): Html {
  const texts = messages.map((message) => html`<li><code>${message}</code></li>`);
  return html`<dt><code>${status === 'default' ? 'other' : status}</code></dt>
    <dd>
      ${prose(description)} <span class="soft small">${types.join(', ')}</span>
      ${
        texts.length === 0
          ? ''
          : html`<ul class="small">
              ${texts}
            </ul>`
      }
    </dd>`;
}

/** Renders text with code between backticks. */
function prose(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

/** Lets long paths break after their slashes. */
function breakable(path: string): Html[] {
  return path.split(/(?<=\/)/).map((part) => html`${part}<wbr />`);
}
