-- Whose a run is, and which channel began it (docs/decisions/0117-owners.md). Of a run that a channel began
-- before this, nobody knows whose it is: no label of a plugin is '?', so that no channel reaches it.

ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT 'local';
ALTER TABLE runs ADD COLUMN channel TEXT NOT NULL DEFAULT '';

UPDATE runs SET owner = '?' || id, channel = '?' WHERE private = 1;

-- The scope owner. A constraint is no part of what is stored, so that it is changed where it stands, as SQLite's page on
-- ALTER TABLE has it: to write the tables anew would copy all bodies.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'scope = ''global'' OR ', 'scope = ''global'' OR scope GLOB ''owner:?*'' OR ') WHERE name = 'entries';
UPDATE sqlite_schema SET sql = replace(sql, '(''run'', ''project'', ''global'')', '(''run'', ''project'', ''owner'', ''global'')') WHERE name = 'schemes';
PRAGMA writable_schema = RESET;
