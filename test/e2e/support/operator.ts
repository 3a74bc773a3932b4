/** The operator: reads the alerts, presses their buttons, and knows the password. */
import type { NtfyMessage } from '../../../sandbox/records.ts';
import type { TestBed } from './test-bed.ts';
import { publishedTo } from './topic.ts';

export const OPERATOR = {
  NOTIFY_ADMIN_TOPIC: 'operator-topic',
  PANIC_PASSWORD: 'correct horse battery staple',
} as const;

export interface AdminAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** The header that says whether the panic switch is stored. */
  readonly isPanicStored?: string;
}

export class Operator {
  readonly #bed: TestBed;
  #calls = 0;

  /** @param bed with the variables of `OPERATOR`. */
  constructor(bed: TestBed) {
    this.#bed = bed;
  }

  alerts(): Promise<NtfyMessage[]> {
    return publishedTo(this.#bed, OPERATOR.NOTIFY_ADMIN_TOPIC);
  }

  /** As the notification app does it. */
  press({ actions = [] }: NtfyMessage, label: string): Promise<AdminAnswer> {
    const button = actions.find((action) => action.label === label);
    if (button === undefined) throw new Error(`there is no button "${label}"`);
    const { url, method, headers, body } = button as unknown as Record<'url' | 'method' | 'body', string> & {
      headers: Record<string, string>;
    };
    return this.#call(url, { method, headers, body });
  }

  setPanic(active: boolean): Promise<AdminAnswer> {
    return this.#post('/admin/panic', { password: OPERATOR.PANIC_PASSWORD, active });
  }

  rollBack(more: { comments?: true; issues?: true; spare_single?: true } = {}): Promise<AdminAnswer> {
    return this.#post('/admin/rollback', { password: OPERATOR.PANIC_PASSWORD, ...more });
  }

  #post(path: string, payload: object): Promise<AdminAnswer> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify(payload);
    return this.#call(`${this.#bed.service.url}${path}`, { method: 'POST', headers, body });
  }

  /** Always from another address: how often one may call is not what these tests are about. */
  async #call(
    url: string,
    init: { method: string; headers: Record<string, string>; body: string },
  ): Promise<AdminAnswer> {
    this.#calls += 1;
    const headers = { ...init.headers, 'CF-Connecting-IP': `192.0.2.${this.#calls}` };
    const response = await fetch(url, { ...init, headers });
    const body = await response.json<AdminAnswer['body']>();
    const isPanicStored = response.headers.get('X-Panic-Stored');
    return { status: response.status, body, ...(isPanicStored !== null && { isPanicStored }) };
  }
}
