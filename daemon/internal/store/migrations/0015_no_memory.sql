-- A run that is told nothing of what is remembered, and from which nothing is learned.

ALTER TABLE runs ADD COLUMN no_memory INTEGER NOT NULL DEFAULT 0 CHECK (no_memory IN (0, 1));
