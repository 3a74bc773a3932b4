/** The operator at /admin/held: a browser's cookies and forms, without being one. */
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

  get(path = '/admin/held'): Promise<FormAnswer> {
    return this.#client.send('GET', path, null, { Cookie: this.cookie });
  }

  post(fields: Readonly<Record<string, string>>, headers = {}): Promise<FormAnswer> {
    return this.#client.post('/admin/held', fields, { Cookie: this.cookie, ...headers });
  }

  /** With the password, or with `fields` in its place. Answers the status. */
  async open(
    fields: Readonly<Record<string, string>> = { password: OPERATOR.PANIC_PASSWORD },
  ): Promise<number> {
    // From an address of its own: how often one may try is not what these tests are about.
    const response = await fetch(`${this.#origin}/admin/held`, {
      method: 'POST',
      headers: { 'CF-Connecting-IP': this.#address },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
    this.cookie = /^[^;]+/.exec(response.headers.get('Set-Cookie') ?? '')?.[0] ?? '';
    return response.status;
  }

  /** The field that names a push as it is now. */
  async seen(hash: string): Promise<string> {
    const { html } = await this.get(`/admin/held/${hash}`);
    const [, value = ''] = /name="push-0" value="([^"]+)"/.exec(html) ?? [];
    expect(value).toMatch(new RegExp(`^${hash} `));
    return value;
  }

  async decide(decision: 'publish' | 'discard', ...hashes: readonly string[]): Promise<FormAnswer> {
    const values = await Promise.all(hashes.map((hash) => this.seen(hash)));
    const pushes = Object.fromEntries(values.map((value, at) => [`push-${at}`, value]));
    return this.post({ decision, reason: 'off-topic', ...pushes });
  }
}
