-- One row for each pull request that was opened (contract, 2.8), the newest last. Entries arrive out of order when
-- deliveries were late. Each table and each index costs a written row.
CREATE TABLE pull_requests (
  created_at TEXT NOT NULL,
  pr_url TEXT NOT NULL,
  -- Which code host it is on: `gh`, or the key of one from HOSTS.
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

-- An entry that is delivered twice stays one row. A repository's entries are counted here.
CREATE UNIQUE INDEX pull_requests_of_a_repository ON pull_requests (host, owner, repo, pr_url);

-- No request counts all rows.
CREATE VIEW totals AS
  SELECT id + late AS pull_requests, created_at AS last_created_at FROM pull_requests
  WHERE id IS NOT NULL ORDER BY created_at DESC, pr_url DESC LIMIT 1;

-- Whoever inserts the newest one gives its id. This is for the others: those that are late, and the first one of all.
CREATE TRIGGER count_pull_request AFTER INSERT ON pull_requests WHEN new.id IS NULL BEGIN
  UPDATE pull_requests SET id = 1 + coalesce((SELECT pull_requests FROM totals), 0)
    WHERE created_at = new.created_at AND pr_url = new.pr_url;
  UPDATE pull_requests SET late = late + 1
    WHERE (created_at, pr_url) <> (new.created_at, new.pr_url) AND (created_at, pr_url) =
      (SELECT created_at, pr_url FROM pull_requests ORDER BY created_at DESC, pr_url DESC LIMIT 1);
END;

-- Karma of each identity hash (contract, 2.3).
CREATE TABLE karma (
  hash TEXT PRIMARY KEY,
  karma INTEGER NOT NULL
) WITHOUT ROWID;

-- Which pseudonyms there are. Whether a hash is one of them is looked up here, as an object that is asked for the first
-- time would leave a file behind on one machine, and anyone can ask for any hash.
CREATE TABLE pseudonyms (
  hash TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Which pull requests have a page, looked up here for the same reason.
CREATE TABLE hashes_by_repository (
  pr_hash TEXT PRIMARY KEY,
  -- `octo/hello`, or `cb/octo/hello` on another host than the first.
  repository TEXT NOT NULL COLLATE NOCASE,
  -- Milliseconds since 1970.
  recorded_at INTEGER NOT NULL
) WITHOUT ROWID;

-- For the page of a repository, the newest first; and what each pull request has, so that a person who pushes the same
-- commits again is told of it.
CREATE TABLE works_by_repository (
  repository TEXT NOT NULL COLLATE NOCASE,
  recorded_at INTEGER NOT NULL,
  pr_hash TEXT NOT NULL,
  -- A list in JSON: for each commit, a keyed hash of its files and of the upstream commit below it.
  works TEXT NOT NULL,
  PRIMARY KEY (repository, recorded_at, pr_hash)
) WITHOUT ROWID;

-- A repository that was renamed.
CREATE TRIGGER move_to_repository AFTER UPDATE OF repository ON hashes_by_repository
WHEN new.repository <> old.repository BEGIN
  UPDATE works_by_repository SET repository = new.repository
    WHERE repository = old.repository AND recorded_at = old.recorded_at AND pr_hash = old.pr_hash;
END;

-- Where the feed of a code host does not name the branch of a pull request: which one it is, by the host's own number.
CREATE TABLE hashes_by_host_id (
  -- The key of the code host.
  host TEXT NOT NULL,
  id INTEGER NOT NULL,
  pr_hash TEXT NOT NULL,
  PRIMARY KEY (host, id)
) WITHOUT ROWID;
