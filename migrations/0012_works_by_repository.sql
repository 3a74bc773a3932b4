-- For the page of a repository, the newest first; and what each pull request was opened with, so that a person who pushes
-- the same commits again is told of it. It takes the place of an index and of the table `works`: so a pull request writes
-- a row less. (`works` stays for the code that runs until this version is there.)
CREATE TABLE works_by_repository (
  repository TEXT NOT NULL COLLATE NOCASE,
  recorded_at INTEGER NOT NULL,
  pr_hash TEXT NOT NULL,
  -- A keyed hash of the commits without their author and dates; null if that is not known, or another one was first.
  work TEXT,
  PRIMARY KEY (repository, recorded_at, pr_hash)
) WITHOUT ROWID;
INSERT INTO works_by_repository
  SELECT repository, recorded_at, pr_hash, max(work) FROM hashes_by_repository LEFT JOIN works USING (pr_hash)
  GROUP BY pr_hash;
DROP INDEX newest_hashes_of_a_repository;

-- For the version before, which writes only the other tables.
CREATE TRIGGER list_by_repository AFTER INSERT ON hashes_by_repository BEGIN
  INSERT INTO works_by_repository VALUES (new.repository, new.recorded_at, new.pr_hash, NULL) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER move_to_repository AFTER UPDATE OF repository ON hashes_by_repository
WHEN new.repository <> old.repository BEGIN
  UPDATE works_by_repository SET repository = new.repository
    WHERE repository = old.repository AND recorded_at = old.recorded_at AND pr_hash = old.pr_hash;
END;
CREATE TRIGGER note_work AFTER INSERT ON works BEGIN
  UPDATE works_by_repository SET work = new.work
    WHERE (repository, recorded_at, pr_hash) =
      (SELECT repository, recorded_at, pr_hash FROM hashes_by_repository WHERE pr_hash = new.pr_hash);
END;
