-- Pseudonyms that the version before this has listed, or whose first comment it has posted, are in the new list, too.
CREATE TRIGGER list_reported_pseudonym AFTER INSERT ON reported_pseudonyms BEGIN
  INSERT INTO pseudonyms VALUES (new.hash) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER list_pseudonym_with_karma AFTER INSERT ON karma BEGIN
  INSERT INTO pseudonyms VALUES (new.hash) ON CONFLICT DO NOTHING;
END;
