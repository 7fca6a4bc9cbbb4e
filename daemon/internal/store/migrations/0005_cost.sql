-- What a turn cost may be nothing, which is not the same as unknown, and its tokens
-- may be an estimate (docs/decisions/0066-what-a-completion-costs.md).

UPDATE turns SET cost = NULL WHERE cost = 0;
ALTER TABLE turns ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1));

-- What was used is asked for by time, of all runs.
CREATE INDEX journal_usage ON journal (time) WHERE kind IN ('turn.closed', 'note.completion');
