-- One row for each pull request that was opened (contract, 2.8). The URL names it, so that an entry that is delivered
-- twice stays one row.
CREATE TABLE pull_requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  repo TEXT NOT NULL,
  pr_url TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
);
