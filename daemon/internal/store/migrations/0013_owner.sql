-- Whose a run is, and which channel began it (docs/decisions/0117-owners.md). Of a run that a channel began
-- before this, nobody knows whose it is: no label of a plugin is '?', so that no channel reaches it.

ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT 'local';
ALTER TABLE runs ADD COLUMN channel TEXT NOT NULL DEFAULT '';

UPDATE runs SET owner = '?', channel = '?' WHERE private = 1;
