-- The repositories of which the bot may have a fork, to find those that nobody has needed for long. A row comes with the
-- first pull request, and goes with the fork.
CREATE TABLE forks (
  -- As in hashes_by_repository.
  repository TEXT PRIMARY KEY COLLATE NOCASE,
  host TEXT NOT NULL,
  -- Milliseconds since 1970. It may have been used since: whoever wants to delete it asks the host.
  used_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX longest_unused_forks ON forks (host, used_at);

-- `cb/octo/hello` is on another host than the first, `octo/hello` is not.
INSERT INTO forks
  SELECT repository, iif(repository LIKE '%/%/%', substr(repository, 1, instr(repository, '/') - 1), 'gh'), max(recorded_at)
  FROM hashes_by_repository GROUP BY repository;

-- Not in the code, as the version before this writes that table, too.
CREATE TRIGGER list_fork AFTER INSERT ON hashes_by_repository BEGIN
  INSERT INTO forks VALUES (
    new.repository,
    iif(new.repository LIKE '%/%/%', substr(new.repository, 1, instr(new.repository, '/') - 1), 'gh'),
    new.recorded_at
  ) ON CONFLICT DO NOTHING;
END;
-- A pull request that is opened anew from its old branch needs a fork again.
CREATE TRIGGER list_fork_again AFTER UPDATE ON hashes_by_repository BEGIN
  INSERT INTO forks VALUES (
    new.repository,
    iif(new.repository LIKE '%/%/%', substr(new.repository, 1, instr(new.repository, '/') - 1), 'gh'),
    new.recorded_at
  ) ON CONFLICT DO NOTHING;
END;
