-- Which pull request has which commits, so that a person who pushes them again is told of it. The key is a keyed hash of
-- the commits without their author and dates.
CREATE TABLE works (
  work TEXT PRIMARY KEY,
  pr_hash TEXT NOT NULL
) WITHOUT ROWID;
