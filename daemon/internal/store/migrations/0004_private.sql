-- The commands of a private run have nothing of the project: a channel made it
-- (docs/decisions/0056-limits-of-projects-and-channels.md).

ALTER TABLE runs ADD COLUMN private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1));
