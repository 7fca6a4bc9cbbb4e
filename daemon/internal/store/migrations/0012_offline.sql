-- Nothing in a run reaches a network whose work was delegated by an agent that has none.

ALTER TABLE runs ADD COLUMN offline INTEGER NOT NULL DEFAULT 0 CHECK (offline IN (0, 1));
