-- For the page of a repository: which recorded pull requests are its own, the newest first. Their states are asked of
-- their objects. Those that were recorded before this migration have no repository here, and do not appear.
ALTER TABLE recorded_hashes ADD COLUMN repository TEXT COLLATE NOCASE;
ALTER TABLE recorded_hashes ADD COLUMN recorded_at INTEGER;
CREATE INDEX newest_hashes_of_a_repository ON recorded_hashes (repository, recorded_at);
