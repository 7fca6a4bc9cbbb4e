-- What a run has of its own in the place of what its agent and its model say.

ALTER TABLE runs ADD COLUMN temperature REAL CHECK (temperature BETWEEN 0 AND 2);
ALTER TABLE runs ADD COLUMN persona TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN context_limit INTEGER NOT NULL DEFAULT 0 CHECK (context_limit >= 0);
ALTER TABLE runs ADD COLUMN no_repo INTEGER NOT NULL DEFAULT 0 CHECK (no_repo IN (0, 1));
ALTER TABLE runs ADD COLUMN no_interaction INTEGER NOT NULL DEFAULT 0 CHECK (no_interaction IN (0, 1));
ALTER TABLE runs ADD COLUMN no_web INTEGER NOT NULL DEFAULT 0 CHECK (no_web IN (0, 1));
ALTER TABLE runs ADD COLUMN no_proposals INTEGER NOT NULL DEFAULT 0 CHECK (no_proposals IN (0, 1));
