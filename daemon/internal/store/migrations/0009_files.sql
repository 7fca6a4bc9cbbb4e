-- Files are entries of their project (docs/decisions/0090-files-as-entries.md). What runs had of them as
-- entries of their own goes there, of each path the newest; a path that another run has too keeps its body
-- in the run that has it. What a run of a channel has stays its own: such runs have nothing of the project.

CREATE TABLE file_constraints (
  id      INTEGER PRIMARY KEY, -- in the order in which they were set
  project INTEGER NOT NULL REFERENCES projects (id),
  pattern TEXT    NOT NULL CHECK (octet_length(pattern) BETWEEN 1 AND 512),
  kind    TEXT    NOT NULL CHECK (kind IN ('add', 'readonly', 'ignore')),
  created INTEGER NOT NULL,
  UNIQUE (project, pattern)
) STRICT;

CREATE TABLE moving AS
  SELECT max(e.id) AS id, r.project AS project FROM entries e JOIN runs r ON r.id = CAST(substr(e.scope, 5) AS INTEGER)
  WHERE e.scheme = 'file' AND e.scope GLOB 'run:*' AND NOT r.private GROUP BY r.project, e.path;
UPDATE entries SET scope = 'project:' || (SELECT m.project FROM moving m WHERE m.id = entries.id)
  WHERE id IN (SELECT id FROM moving);
DROP TABLE moving;

-- The text of a file is let go when no run has it in sight. The hash is that of no text.
UPDATE entries SET body = '', hash = x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  WHERE scheme = 'file' AND scope GLOB 'project:*'
    AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = entries.id AND v.visibility = 'visible');

CREATE TRIGGER file_left AFTER UPDATE OF visibility ON run_views
WHEN OLD.visibility = 'visible' AND NEW.visibility <> 'visible'
BEGIN
  UPDATE entries SET body = '', hash = x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  WHERE id = NEW.entry AND scheme = 'file' AND scope GLOB 'project:*'
    AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = NEW.entry AND v.visibility = 'visible');
END;

CREATE TRIGGER file_unseen AFTER DELETE ON run_views
WHEN OLD.visibility = 'visible'
BEGIN
  UPDATE entries SET body = '', hash = x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  WHERE id = OLD.entry AND scheme = 'file' AND scope GLOB 'project:*'
    AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = OLD.entry AND v.visibility = 'visible');
END;
