/**
 * Sends forms as a browser does, without being one: it fetches a page, keeps its hidden fields, and
 * posts them.
 */
import type { Person } from './person.ts';

export interface FormAnswer {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
  /** The notice about a mistake; empty if there is none. */
  readonly problem: string;
  readonly heading: string;
  readonly fields: Record<string, string>;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

export class FormClient {
  readonly #origin: string;
  readonly #person: Person;

  constructor(origin: string, person: Person) {
    this.#origin = origin;
    this.#person = person;
  }

  get(path: string): Promise<FormAnswer> {
    return this.send('GET', path, null);
  }

  /** @param fields line feeds are sent as a browser sends them. */
  post(path: string, fields: Readonly<Record<string, string>>, headers = {}): Promise<FormAnswer> {
    const sent = Object.entries(fields).map(([name, value]) => [name, value.replaceAll('\n', '\r\n')]);
    return this.send('POST', path, new URLSearchParams(sent).toString(), headers);
  }

  /** @param file its content, in the field behind all others; null: it stays as the page has it. */
  postFile(
    path: string,
    fields: Readonly<Record<string, string>>,
    file: Uint8Array | null,
    headers = {},
  ): Promise<FormAnswer> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value.replaceAll('\n', '\r\n'));
    if (file !== null) form.append('file', new Blob([file]), 'my file.patch');
    return this.send('POST', path, form, headers);
  }

  async send(
    method: string,
    path: string,
    body: string | FormData | null,
    headers = {},
  ): Promise<FormAnswer> {
    const response = await fetch(this.#origin + path, {
      method,
      headers: {
        ...this.#person.headers,
        'User-Agent': this.#person.userAgent,
        Accept: 'text/html',
        Origin: this.#origin,
        'Sec-Fetch-Site': 'same-origin',
        ...(typeof body === 'string' && { 'Content-Type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      body,
    });
    const html = await response.text();
    const hidden = html.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"/g);
    return {
      status: response.status,
      html,
      headers: response.headers,
      problem: textOf(/class="notice bad"[^>]*>\s*<p>([^]*?)<\/p>/.exec(html)?.[1]),
      heading: textOf(/<h1>([^]*?)<\/h1>/.exec(html)?.[1]),
      fields: Object.fromEntries([...hidden].map(([, name = '', value = '']) => [name, plain(value)])),
    };
  }
}

/** The value of a text field with the name. */
export function typedIn(html: string, name: string): string {
  const area = new RegExp(`<textarea[^>]*\\sname="${name}"[^>]*>\\n?([^]*?)</textarea`).exec(html)?.[1];
  const input = new RegExp(`<input(?=[^>]*\\sname="${name}")[^>]*\\svalue="([^"]*)"`).exec(html)?.[1];
  return plain(area ?? input ?? '');
}

/** Reads what the page says to save under the name; empty: nothing. */
export function savedIn(html: string, name: string): string {
  const block = /<pre\s+class="saved"[^>]*>([^]*?)<\/pre/.exec(html)?.[1] ?? '';
  return new RegExp(`^${name}:\\s+(\\S+)$`, 'm').exec(block)?.[1] ?? '';
}

/** The words of a page, without its marks. */
export const wordsOf = ({ html }: Pick<FormAnswer, 'html'>): string => textOf(html);

function plain(html: string): string {
  return html.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

function textOf(html = ''): string {
  return plain(html.replaceAll(/<[^>]*>/g, ''))
    .replaceAll(/\s+/g, ' ')
    .trim();
}
