-- Whether a loop may only read is a fact of its own; mode is the permission mode
-- (docs/decisions/0038-mode-and-read-only.md). An older Bothy, which would take
-- the new names for no mode at all, refuses the file from here on.

ALTER TABLE loops ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1));
UPDATE loops SET read_only = 1 WHERE mode = 'ask';
ALTER TABLE loops DROP COLUMN mode;
