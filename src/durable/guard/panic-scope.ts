/** What the panic switch suspends: pushes (contract, 3.2), comments and issues, or both. */
export const PANIC_SCOPES = ['pushes', 'writes', 'all'] as const;
export type PanicScope = (typeof PANIC_SCOPES)[number];
