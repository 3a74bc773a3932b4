-- A pull request writes two rows here, and two in the list of hashes: each table and index costs one. There are no totals
-- to write any more.
ALTER TABLE pull_requests RENAME TO earlier_pull_requests;

-- Newest last. Entries arrive out of order when deliveries were late.
CREATE TABLE pull_requests (
  created_at TEXT NOT NULL,
  pr_url TEXT NOT NULL,
  host TEXT NOT NULL DEFAULT 'gh',
  -- The host compares names without regard to case.
  owner TEXT NOT NULL COLLATE NOCASE,
  repo TEXT NOT NULL COLLATE NOCASE,
  -- How many there were when this one arrived, itself included.
  id INTEGER,
  -- How many older ones have arrived since then. Only right for the newest one, whose id and this make the total.
  late INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (created_at, pr_url)
) WITHOUT ROWID;
INSERT INTO pull_requests (created_at, pr_url, host, owner, repo, id)
  SELECT created_at, pr_url, host, owner, repo, row_number() OVER (ORDER BY id) FROM earlier_pull_requests;
UPDATE pull_requests SET late = (SELECT pull_requests FROM totals) - id
  WHERE (created_at, pr_url) = (SELECT created_at, pr_url FROM pull_requests ORDER BY created_at DESC, pr_url DESC LIMIT 1);
DROP TABLE earlier_pull_requests;

-- An entry that is delivered twice stays one row. A repository's entries are counted here.
CREATE UNIQUE INDEX pull_requests_of_a_repository ON pull_requests (host, owner, repo, pr_url);

-- Views have the names and columns of the tables before, for the version that reads those.
DROP TABLE totals;
CREATE VIEW totals AS
  SELECT id + late AS pull_requests, created_at AS last_created_at FROM pull_requests
  WHERE id IS NOT NULL ORDER BY created_at DESC, pr_url DESC LIMIT 1;
DROP TABLE repository_totals;
CREATE VIEW repository_totals AS
  SELECT CASE host WHEN 'gh' THEN owner ELSE host || '/' || owner END COLLATE NOCASE AS owner, repo,
    count(*) AS pull_requests
  FROM pull_requests GROUP BY host, owner, repo;

-- Whoever inserts the newest one gives its id. This is for the others: those that are late, the first one of all, and
-- those of the version before.
CREATE TRIGGER count_pull_request AFTER INSERT ON pull_requests WHEN new.id IS NULL BEGIN
  UPDATE pull_requests SET id = 1 + coalesce((SELECT pull_requests FROM totals), 0)
    WHERE created_at = new.created_at AND pr_url = new.pr_url;
  UPDATE pull_requests SET late = late + 1
    WHERE (created_at, pr_url) <> (new.created_at, new.pr_url) AND (created_at, pr_url) =
      (SELECT created_at, pr_url FROM pull_requests ORDER BY created_at DESC, pr_url DESC LIMIT 1);
END;

-- `hashes_by_repository` is the list of hashes now. `recorded_hashes` has those that were recorded before that table was
-- there, and those of the version before.
