/**
 * Lists what the Durable Objects and the database of a test have stored: names of tables with their
 * columns, and keys.
 */
import { runInDurableObject } from 'cloudflare:test';
import { calledObjects } from './called-objects.ts';

export interface Stored {
  /** The class of an object, or `D1`. */
  readonly place: string;
  readonly kind: 'table' | 'view' | 'key';
  readonly name: string;
  /** The columns of a table; a key has none. */
  readonly columns: readonly string[];
}

/** SQLite's own tables, Cloudflare's, and the list of applied migrations. */
const NOT_OURS = /^(sqlite_|_cf_|d1_)/;
const SCHEMA = "SELECT type AS kind, name FROM sqlite_master WHERE type IN ('table', 'view')";
const columnsQuery = (table: string): string => `SELECT name FROM pragma_table_info('${table}')`;

type SchemaRow = Record<string, SqlStorageValue> & Pick<Stored, 'kind' | 'name'>;
type ColumnRow = Record<string, SqlStorageValue> & { readonly name: string };

/** Lists what all objects that the tests of this file have called have stored. */
export async function storedByObjects(): Promise<Stored[]> {
  return (await Promise.all(calledObjects().map(({ objects, id }) => storedIn(objects.get(id))))).flat();
}

function storedIn(object: DurableObjectStub): Promise<Stored[]> {
  return runInDurableObject(object, (instance, { storage: { sql, kv } }): Stored[] => {
    const place = instance.constructor.name;
    const tables = sql.exec<SchemaRow>(SCHEMA).toArray();
    const keys = [...kv.list()].map(([name]) => ({ place, kind: 'key' as const, name, columns: [] }));
    return [
      ...keys,
      ...tables
        .filter(({ name }) => !NOT_OURS.test(name))
        .map(({ kind, name }) => {
          const columns = sql.exec<ColumnRow>(columnsQuery(name)).toArray();
          return { place, kind, name, columns: columns.map((column) => column.name) };
        }),
    ];
  });
}

export async function storedInDatabase(db: D1Database): Promise<Stored[]> {
  const { results } = await db.prepare(SCHEMA).all<SchemaRow>();
  const ours = results.filter(({ name }) => !NOT_OURS.test(name));
  return Promise.all(
    ours.map(async ({ kind, name }) => {
      const columns = await db.prepare(columnsQuery(name)).all<ColumnRow>();
      return { place: 'D1', kind, name, columns: columns.results.map((column) => column.name) };
    }),
  );
}
