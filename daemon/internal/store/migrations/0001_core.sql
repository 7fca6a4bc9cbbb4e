-- The tables behind projects, runs, loops, turns and entries, and the journal.
-- Times are Unix nanoseconds, hashes 32 raw bytes.

PRAGMA application_id = 0x426f7468;

CREATE TABLE projects (
  id      INTEGER PRIMARY KEY,
  name    TEXT    NOT NULL UNIQUE,
  root    TEXT    NOT NULL UNIQUE,
  created INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
  id      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL REFERENCES projects (id),
  alias   TEXT    NOT NULL CHECK (length(alias) BETWEEN 1 AND 64 AND alias NOT GLOB '*[^A-Za-z0-9_-]*'),
  key     TEXT    NOT NULL UNIQUE,
  parent  INTEGER REFERENCES runs (id),
  agent   TEXT    NOT NULL,
  model   TEXT    NOT NULL,
  status  INTEGER NOT NULL DEFAULT 100 CHECK (status IN (100, 102, 200, 202, 499, 500)),
  hidden  INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
  turns   INTEGER NOT NULL DEFAULT 0, -- opened so far
  loops   INTEGER NOT NULL DEFAULT 0, -- queued so far
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  UNIQUE (project, alias)
) STRICT;

CREATE INDEX runs_parent ON runs (parent) WHERE parent IS NOT NULL;

CREATE TRIGGER run_transition BEFORE UPDATE OF status ON runs
WHEN NEW.status <> OLD.status AND NOT (
     (OLD.status = 100 AND NEW.status IN (102, 499))
  OR (OLD.status = 102 AND NEW.status IN (200, 202, 499, 500))
  OR (OLD.status = 202 AND NEW.status IN (102, 200, 499))
  OR (OLD.status = 200 AND NEW.status IN (102, 499))
  OR (OLD.status = 500 AND NEW.status IN (102, 499))
  OR (OLD.status = 499 AND NEW.status = 102))
BEGIN
  SELECT RAISE(ABORT, 'a run cannot take this step');
END;

CREATE TABLE loops (
  id       INTEGER PRIMARY KEY,
  run      INTEGER NOT NULL REFERENCES runs (id),
  sequence INTEGER NOT NULL,
  mode     TEXT    NOT NULL CHECK (mode IN ('ask', 'act')),
  model    TEXT    NOT NULL,
  agent    TEXT    NOT NULL,
  prompt   INTEGER REFERENCES entries (id) ON DELETE SET NULL, -- its body is the prompt
  status   INTEGER NOT NULL DEFAULT 100,
  reason   TEXT    NOT NULL DEFAULT '',
  stop     TEXT    NOT NULL DEFAULT '',
  options  TEXT,
  created  INTEGER NOT NULL,
  ended    INTEGER,
  UNIQUE (run, sequence)
) STRICT;

CREATE UNIQUE INDEX loops_running ON loops (run) WHERE status = 102;
CREATE INDEX loops_open ON loops (run, sequence) WHERE status IN (100, 102);
CREATE INDEX loops_prompt ON loops (prompt) WHERE prompt IS NOT NULL;

CREATE TABLE turns (
  id                INTEGER PRIMARY KEY,
  run               INTEGER NOT NULL REFERENCES runs (id),
  loop              INTEGER REFERENCES loops (id), -- NULL: a tool call that no prompt caused
  sequence          INTEGER NOT NULL,
  model             TEXT    NOT NULL DEFAULT '',
  finish            TEXT    NOT NULL DEFAULT '',
  prompt_tokens     INTEGER, -- all NULL when the provider said nothing
  cached_tokens     INTEGER,
  completion_tokens INTEGER,
  reasoning_tokens  INTEGER,
  total_tokens      INTEGER,
  cost              REAL,
  duration          INTEGER NOT NULL DEFAULT 0,
  closed            INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
  created           INTEGER NOT NULL,
  UNIQUE (run, sequence)
) STRICT;

CREATE TABLE schemes (
  name          TEXT    PRIMARY KEY,
  model_visible INTEGER NOT NULL CHECK (model_visible IN (0, 1)),
  category      TEXT    NOT NULL CHECK (category IN ('data', 'logging', 'unknown', 'prompt', 'audit')),
  scope         TEXT    NOT NULL CHECK (scope IN ('run', 'project', 'global')),
  writable_by   TEXT    NOT NULL CHECK (json_valid(writable_by))
) STRICT, WITHOUT ROWID;

-- What an entry is. Its id is the seq of the journal row that first committed
-- it, so that an id is never used twice.
CREATE TABLE entries (
  id         INTEGER PRIMARY KEY,
  scope      TEXT    NOT NULL CHECK (scope = 'global' OR scope GLOB 'run:[1-9]*' OR scope GLOB 'project:[1-9]*'),
  path       TEXT    NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 2048),
  scheme     TEXT    NOT NULL GENERATED ALWAYS AS (
               CASE WHEN instr(path, '://') > 1 THEN lower(substr(path, 1, instr(path, '://') - 1)) ELSE 'file' END) VIRTUAL,
  body       TEXT    NOT NULL,
  attributes TEXT    CHECK (attributes GLOB '{*}'), -- json_type would refuse what is nested 1,000 deep
  hash       BLOB    NOT NULL CHECK (length(hash) = 32),
  created    INTEGER NOT NULL,
  UNIQUE (scope, path)
) STRICT;

-- How a run sees an entry. The id orders a run's entries by first appearance.
CREATE TABLE run_views (
  id          INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES runs (id),
  entry       INTEGER NOT NULL REFERENCES entries (id),
  loop        INTEGER NOT NULL DEFAULT 0,
  turn        INTEGER NOT NULL DEFAULT 0,
  state       TEXT    NOT NULL CHECK (state IN ('proposed', 'streaming', 'resolved', 'failed', 'cancelled')),
  outcome     TEXT    NOT NULL DEFAULT '',
  phase       TEXT    NOT NULL DEFAULT '' CHECK (phase IN ('', 'recorded', 'approved', 'started', 'ended')),
  visibility  TEXT    NOT NULL CHECK (visibility IN ('visible', 'summarized', 'archived')),
  writer      TEXT    NOT NULL CHECK (writer IN ('system', 'plugin', 'client', 'model')),
  write_count INTEGER NOT NULL DEFAULT 1,
  updated     INTEGER NOT NULL,
  UNIQUE (entry, run)
) STRICT;

CREATE INDEX run_views_run ON run_views (run);

-- The pieces of a stream that has not ended, each under its journal row's seq.
CREATE TABLE chunks (
  seq     INTEGER PRIMARY KEY,
  entry   INTEGER NOT NULL REFERENCES entries (id),
  channel INTEGER NOT NULL,
  text    TEXT    NOT NULL
) STRICT;

CREATE INDEX chunks_entry ON chunks (entry);

-- One row per committed event. entry is where a body is to be found; it is no
-- part of what is hashed, and the entry may be gone.
CREATE TABLE journal (
  seq       INTEGER PRIMARY KEY,
  time      INTEGER NOT NULL,
  kind      TEXT    NOT NULL,
  project   INTEGER NOT NULL,
  run       INTEGER NOT NULL,
  loop      INTEGER NOT NULL,
  turn      INTEGER NOT NULL,
  path      TEXT    NOT NULL,
  data      TEXT,
  body_hash BLOB    CHECK (body_hash IS NULL OR length(body_hash) = 32),
  entry     INTEGER,
  prev_hash BLOB    NOT NULL CHECK (length(prev_hash) = 32),
  hash      BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE INDEX journal_run ON journal (run);
