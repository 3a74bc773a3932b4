/**
 * Deletes everything but `kept`, and the alarm with it, so that nothing of the rest can be read any more: a row that is
 * only deleted stays in the file and in its write-ahead log, and the runtime allows no `secure_delete`.
 *
 * All happens in one turn. A machine that dies in this very moment may lose what is kept, too.
 */
export async function keepOnly(
  storage: DurableObjectStorage,
  kept: Iterable<readonly [string, unknown]>,
  alarmAt: number | null,
): Promise<void> {
  const rows = [...kept];
  const deleted = storage.deleteAll();
  for (const [key, value] of rows) storage.kv.put(key, value);
  await Promise.all([deleted, alarmAt === null ? null : storage.setAlarm(alarmAt)]);
}
