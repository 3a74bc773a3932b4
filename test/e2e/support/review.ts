/** The operator at /admin/delayed: a browser's cookies and forms, without being one. */
import { expect } from 'vitest';
import { FormClient, type FormAnswer } from './form-client.ts';
import { OPERATOR } from './operator.ts';
import type { TestBed } from './test-bed.ts';

export class Reviewer {
  readonly #client: FormClient;
  readonly #origin: string;
  readonly #address: string;
  cookie = '';

  constructor(bed: TestBed) {
    const person = bed.person();
    this.#origin = bed.service.url;
    this.#address = person.address;
    this.#client = new FormClient(bed.service.url, person);
  }

  get(path = '/admin/delayed'): Promise<FormAnswer> {
    return this.#client.send('GET', path, null, { Cookie: this.cookie });
  }

  post(fields: Readonly<Record<string, string>>, headers = {}): Promise<FormAnswer> {
    return this.#client.post('/admin/delayed', fields, { Cookie: this.cookie, ...headers });
  }

  /** With the password, or with `fields` in its place. Answers the status. */
  async open(
    fields: Readonly<Record<string, string>> = { password: OPERATOR.PANIC_PASSWORD },
  ): Promise<number> {
    // From an address of its own: how often one may try is not what these tests are about.
    const response = await fetch(`${this.#origin}/admin/delayed`, {
      method: 'POST',
      headers: { 'CF-Connecting-IP': this.#address },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
    this.cookie = /^[^;]+/.exec(response.headers.get('Set-Cookie') ?? '')?.[0] ?? '';
    return response.status;
  }

  /** The field that names a push as it is now. */
  async seen(name: string): Promise<string> {
    const { html } = await this.get(`/admin/delayed/${name}`);
    const [, value = ''] = /name="push-0" value="([^"]+)"/.exec(html) ?? [];
    expect(value).toMatch(new RegExp(`^${name} `));
    return value;
  }

  async decide(decision: 'publish' | 'discard', ...names: readonly string[]): Promise<FormAnswer> {
    const values = await Promise.all(names.map((name) => this.seen(name)));
    const pushes = Object.fromEntries(values.map((value, at) => [`push-${at}`, value]));
    return this.post({ decision, reason: 'off-topic', ...pushes });
  }
}
