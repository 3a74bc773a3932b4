/** The panic switch: pushes (contract, 3.2), comments and issues, or both. It survives a restart. */

export const PANIC_SCOPES = ['pushes', 'writes', 'all'] as const;
export type PanicScope = (typeof PANIC_SCOPES)[number];

/** What the operator has suspended. */
export interface Suspension {
  readonly panicMode: boolean;
  /** Comments and issues. */
  readonly writesSuspended: boolean;
}

/** Where each switch is kept. */
const KEYS = { pushes: 'panic', writes: 'panic-writes' } as const;

export class PanicSwitch {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  get suspension(): Suspension {
    const isOn = (key: string): boolean => this.#kv.get<boolean>(key) ?? false;
    return { panicMode: isOn(KEYS.pushes), writesSuspended: isOn(KEYS.writes) };
  }

  set(active: boolean, scope: PanicScope): void {
    if (scope !== 'writes') this.#kv.put(KEYS.pushes, active);
    if (scope !== 'pushes') this.#kv.put(KEYS.writes, active);
  }
}
