-- Which pseudonyms there are. Takes the place of reported_pseudonyms: a report of a made-up hash must leave nothing either.
-- (The old table stays for the code that runs until this version is there.)
CREATE TABLE pseudonyms (
  hash TEXT PRIMARY KEY
) WITHOUT ROWID;
INSERT INTO pseudonyms SELECT hash FROM reported_pseudonyms UNION SELECT hash FROM karma;
