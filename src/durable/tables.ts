/** What the database of a Durable Object holds, for the change from one version of the tables to the next. */

export function hasTable(sql: SqlStorage, name: string): boolean {
  return sql.exec('SELECT 1 FROM sqlite_master WHERE name = ?', name).toArray().length > 0;
}

export function hasColumn(sql: SqlStorage, table: string, column: string): boolean {
  return sql.exec('SELECT 1 FROM pragma_table_info(?) WHERE name = ?', table, column).toArray().length > 0;
}
