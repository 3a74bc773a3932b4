-- Running totals, kept by triggers: no request counts rows.
CREATE TABLE totals (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  pull_requests INTEGER NOT NULL,
  last_created_at TEXT
);
INSERT INTO totals SELECT 1, count(*), max(created_at) FROM pull_requests;

-- Newest first. Entries arrive out of order when deliveries were late, so the id does not tell.
CREATE INDEX newest_pull_requests ON pull_requests (created_at);

-- The host compares names without regard to case.
CREATE TABLE repository_totals (
  owner TEXT NOT NULL COLLATE NOCASE,
  repo TEXT NOT NULL COLLATE NOCASE,
  pull_requests INTEGER NOT NULL,
  PRIMARY KEY (owner, repo)
) WITHOUT ROWID;
INSERT INTO repository_totals
  SELECT owner, repo, count(*) FROM pull_requests GROUP BY owner COLLATE NOCASE, repo COLLATE NOCASE;

CREATE TRIGGER count_pull_request AFTER INSERT ON pull_requests BEGIN
  UPDATE totals SET
    pull_requests = pull_requests + 1,
    last_created_at = max(coalesce(last_created_at, ''), new.created_at);
  INSERT INTO repository_totals VALUES (new.owner, new.repo, 1)
    ON CONFLICT (owner, repo) DO UPDATE SET pull_requests = pull_requests + 1;
END;

-- Karma of each identity hash (contract, 2.3).
CREATE TABLE karma (
  hash TEXT PRIMARY KEY,
  karma INTEGER NOT NULL
) WITHOUT ROWID;
