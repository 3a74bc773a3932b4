/**
 * Adds a column to a table that an earlier version has made without it. Its values are null there.
 * @param column its name and its type.
 */
export function addColumn(sql: SqlStorage, table: string, column: `${string} INTEGER`): void {
  const [name = ''] = column.split(' ');
  const question = 'SELECT 1 FROM pragma_table_info(?) WHERE name = ?';
  if (sql.exec(question, table, name).toArray().length > 0) return;
  sql.exec(`ALTER TABLE ${table} ADD COLUMN ${column}`);
}
