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
  #suspension: Suspension;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    this.#suspension = {
      panicMode: kv.get<boolean>(KEYS.pushes) ?? false,
      writesSuspended: kv.get<boolean>(KEYS.writes) ?? false,
    };
  }

  get suspension(): Suspension {
    return this.#suspension;
  }

  set(active: boolean, scope: PanicScope): void {
    const { panicMode, writesSuspended } = this.#suspension;
    this.#suspension = {
      panicMode: scope === 'writes' ? panicMode : active,
      writesSuspended: scope === 'pushes' ? writesSuspended : active,
    };
    if (scope !== 'writes') this.#kv.put(KEYS.pushes, active);
    if (scope !== 'pushes') this.#kv.put(KEYS.writes, active);
  }
}
