/**
 * Deletes everything but `kept`, and the alarm, which is then set anew unless `alarmAt` is null. A
 * row that is only deleted stays readable in the file and its write-ahead log, and the runtime
 * allows no `secure_delete`. A machine that dies in this moment may lose what is kept.
 * Proved by test/local/keep-only.test.ts.
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
