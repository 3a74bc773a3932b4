/** A write that fails as on a full disk: the object is reset, and its callers get no answer. */
import { runInDurableObject } from 'cloudflare:test';

/**
 * Spoils all that is written in this turn: it cannot be committed, because a row refers to none.
 */
export function spoilWrites({ sql }: DurableObjectStorage): void {
  sql.exec('CREATE TABLE parents (id INTEGER PRIMARY KEY)');
  sql.exec('CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)');
  sql.exec('INSERT INTO children VALUES (1)');
}

/** Calls the object, whose write then fails. Rejects, as its callers' calls do. */
export function withFailingWrite<T extends Rpc.DurableObjectBranded>(
  stub: DurableObjectStub<T>,
  work: (instance: T) => unknown,
): Promise<unknown> {
  return runInDurableObject(stub as DurableObjectStub, (instance, { storage }) => {
    spoilWrites(storage);
    return work(instance as unknown as T);
  });
}
