-- What a model wrote into an entry stands in its answer already, where it writes calls as tags: the entry says where, and its
-- own body is '' (docs/decisions/0131-what-stands-in-an-answer.md). Whatever is done to the answer, the entry keeps its text.

ALTER TABLE entries ADD COLUMN answer INTEGER; -- the entry whose body has it; NULL: none
ALTER TABLE entries ADD COLUMN starts INTEGER; -- the first byte of it, from 1
ALTER TABLE entries ADD COLUMN bytes  INTEGER;

CREATE INDEX entries_answer ON entries (answer) WHERE answer IS NOT NULL;

CREATE TRIGGER answer_removed BEFORE DELETE ON entries
WHEN EXISTS (SELECT 1 FROM entries WHERE answer = OLD.id)
BEGIN
  UPDATE entries SET body = CAST(substr(CAST(OLD.body AS BLOB), starts, bytes) AS TEXT), answer = NULL, starts = NULL, bytes = NULL
  WHERE answer = OLD.id;
END;

CREATE TRIGGER answer_changed BEFORE UPDATE OF body ON entries
WHEN EXISTS (SELECT 1 FROM entries WHERE answer = OLD.id) AND OLD.body <> NEW.body
BEGIN
  UPDATE entries SET body = CAST(substr(CAST(OLD.body AS BLOB), starts, bytes) AS TEXT), answer = NULL, starts = NULL, bytes = NULL
  WHERE answer = OLD.id;
END;
