-- Which code host a pull request is on: `gh`, or the key of one from HOSTS. All before this were on `gh`.
ALTER TABLE pull_requests ADD COLUMN host TEXT NOT NULL DEFAULT 'gh';

-- Owners of other hosts are counted as `<host>/<owner>`, which no name of an owner looks like.
DROP TRIGGER count_pull_request;
CREATE TRIGGER count_pull_request AFTER INSERT ON pull_requests BEGIN
  UPDATE totals SET
    pull_requests = pull_requests + 1,
    last_created_at = max(coalesce(last_created_at, ''), new.created_at);
  INSERT INTO repository_totals
    VALUES (CASE new.host WHEN 'gh' THEN new.owner ELSE new.host || '/' || new.owner END, new.repo, 1)
    ON CONFLICT (owner, repo) DO UPDATE SET pull_requests = pull_requests + 1;
END;
