/**
 * What the object of a pull request keeps. Everything is in one value, so that whatever happens writes one row; only the
 * dates of its commits and the keys of the events that were told are apart. The parts of the object change the value in
 * memory, and it is saved in the same turn.
 */
import type { KeptHistory } from './history.ts';
import type { KeptOutbox } from './outbox.ts';
import type { KeptRecord } from './record.ts';
import type { KeptSighting } from './sighting.ts';

const KEY = 'pull-request';

export interface Kept extends KeptRecord, KeptHistory, KeptOutbox, KeptSighting {}

export function openKept(kv: SyncKvStorage): Kept {
  const nothing = { record: null, tip: '', datesUntil: null, events: [], outbox: [] };
  return kv.get<Kept>(KEY) ?? { ...nothing, standing: { state: 'open', at: 0 } };
}

export function saveKept(kv: SyncKvStorage, kept: Kept): void {
  kv.put(KEY, kept);
}
