-- Which pseudonyms have reports. Whether a hash is one of them is looked up here, as an object that is asked for the
-- first time would leave a file behind on one machine, and anyone can ask for any hash.
CREATE TABLE reported_pseudonyms (
  hash TEXT PRIMARY KEY
) WITHOUT ROWID;
