-- For the page of a repository: which recorded pull requests are its own, the newest first. Their states are asked of
-- their objects. A table of its own, because the version before this names no column when it writes recorded_hashes; it
-- runs until this one is up, and may come back. Those that were recorded before do not appear.
CREATE TABLE hashes_by_repository (
  pr_hash TEXT PRIMARY KEY,
  repository TEXT NOT NULL COLLATE NOCASE,
  recorded_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX newest_hashes_of_a_repository ON hashes_by_repository (repository, recorded_at);
