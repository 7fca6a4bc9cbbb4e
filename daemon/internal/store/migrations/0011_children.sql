-- A child is a run for work that another run's agent delegated, by the call at this path.

ALTER TABLE runs ADD COLUMN delegator INTEGER REFERENCES runs (id);
ALTER TABLE runs ADD COLUMN delegated_by TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN writes TEXT; -- a JSON array of globs; null is all

CREATE INDEX runs_delegator ON runs (delegator) WHERE delegator IS NOT NULL;
