-- A prompt is looked for by its key each time one is given (ADR 0061).

CREATE INDEX loops_key ON loops (options ->> '$.key') WHERE options ->> '$.key' IS NOT NULL;
