-- An entry of a run goes with the last view of it, whoever loses that: the run, or a fork
-- that outlived it. Entries of a project and of everybody stay without a view.

CREATE TRIGGER unseen_removed AFTER DELETE ON run_views
WHEN NOT EXISTS (SELECT 1 FROM run_views WHERE entry = OLD.entry)
BEGIN
  DELETE FROM chunks WHERE entry = (SELECT id FROM entries WHERE id = OLD.entry AND scope GLOB 'run:*');
  DELETE FROM entries WHERE id = OLD.entry AND scope GLOB 'run:*';
END;

CREATE TRIGGER unseen_replaced AFTER UPDATE OF entry ON run_views
WHEN NOT EXISTS (SELECT 1 FROM run_views WHERE entry = OLD.entry)
BEGIN
  DELETE FROM chunks WHERE entry = (SELECT id FROM entries WHERE id = OLD.entry AND scope GLOB 'run:*');
  DELETE FROM entries WHERE id = OLD.entry AND scope GLOB 'run:*';
END;

DELETE FROM chunks WHERE entry IN (SELECT e.id FROM entries e WHERE e.scope GLOB 'run:*' AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = e.id));
DELETE FROM entries WHERE scope GLOB 'run:*' AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = entries.id);

-- The turns of a loop are asked for when it ends.
CREATE INDEX turns_loop ON turns (loop, sequence) WHERE loop IS NOT NULL;
