-- The version before several code hosts names no column when it writes recorded_hashes. It runs until the new one is up,
-- and may come back. So the repository of a hash gets a table of its own.
CREATE TABLE hashes_by_repository (
  pr_hash TEXT PRIMARY KEY,
  repository TEXT NOT NULL COLLATE NOCASE,
  recorded_at INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO hashes_by_repository
  SELECT pr_hash, repository, recorded_at FROM recorded_hashes WHERE repository IS NOT NULL AND recorded_at IS NOT NULL;
DROP INDEX newest_hashes_of_a_repository;
CREATE INDEX newest_hashes_of_a_repository ON hashes_by_repository (repository, recorded_at);
ALTER TABLE recorded_hashes DROP COLUMN repository;
ALTER TABLE recorded_hashes DROP COLUMN recorded_at;

-- And pseudonyms that it has listed, or whose first comment it has posted, are in the new list, too.
CREATE TRIGGER list_reported_pseudonym AFTER INSERT ON reported_pseudonyms BEGIN
  INSERT INTO pseudonyms VALUES (new.hash) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER list_pseudonym_with_karma AFTER INSERT ON karma BEGIN
  INSERT INTO pseudonyms VALUES (new.hash) ON CONFLICT DO NOTHING;
END;
