-- How far a run has rested, and which plugins have yet to hear of a rest (docs/decisions/0118-rest.md). What was said before
-- this counts as rested: nobody is told of all of it at once.

ALTER TABLE runs ADD COLUMN rested INTEGER NOT NULL DEFAULT 0; -- the sequence of the last loop that a rest reached
ALTER TABLE runs ADD COLUMN leaving INTEGER NOT NULL DEFAULT 0 CHECK (leaving IN (0, 1)); -- nobody goes on with it, since its last prompt
ALTER TABLE runs ADD COLUMN conversation TEXT NOT NULL DEFAULT ''; -- of a channel; what sdk.From makes of it

UPDATE runs SET rested = coalesce((SELECT min(sequence) - 1 FROM loops WHERE run = runs.id AND status IN (100, 102)), loops);

CREATE INDEX runs_unrested ON runs (id) WHERE loops > rested;
CREATE INDEX runs_conversation ON runs (project, owner, conversation) WHERE conversation <> '';

CREATE TABLE owed (
  run    INTEGER NOT NULL REFERENCES runs (id),
  plugin TEXT    NOT NULL,
  first  INTEGER NOT NULL,
  last   INTEGER NOT NULL,
  why    TEXT    NOT NULL,
  PRIMARY KEY (plugin, run, last)
) STRICT, WITHOUT ROWID;
