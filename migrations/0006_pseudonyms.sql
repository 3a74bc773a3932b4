-- Which pseudonyms there are. Takes the place of reported_pseudonyms, which had only those with reports.
-- (The old table stays for the code that runs until this version is there.)
CREATE TABLE pseudonyms (
  hash TEXT PRIMARY KEY
) WITHOUT ROWID;
INSERT INTO pseudonyms SELECT hash FROM reported_pseudonyms UNION SELECT hash FROM karma;
