-- A deleted run keeps its row, without anything of what it was about: forks
-- find what they inherited through it, and its id is never given to another.

ALTER TABLE runs ADD COLUMN deleted INTEGER; -- when; NULL while the run is there
