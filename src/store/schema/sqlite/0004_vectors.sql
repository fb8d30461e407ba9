-- Every place of a vector block and every vector carries a check sum now, and the bits are those of the rotated vector,
-- less its centre: what was stored before is emptied, and embedded again by maintenance.
DELETE FROM vec_slot;
DELETE FROM vec_block;
DELETE FROM embed_cache;

-- What the vectors of an index have in common, one int8 for each dimension and a check sum: the mean of its first block,
-- taken when that is full.
CREATE TABLE vec_centre (
  team TEXT NOT NULL,
  model TEXT NOT NULL,
  centre BLOB NOT NULL,
  PRIMARY KEY (team, model)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER vec_centre_goes AFTER DELETE ON vec_block
WHEN NOT EXISTS (SELECT 1 FROM vec_block b WHERE b.team = old.team AND b.model = old.model) BEGIN
  DELETE FROM vec_centre WHERE team = old.team AND model = old.model;
END;

-- What is no longer active, by project: with memory_live, all memories of a project are found without the others.
CREATE INDEX memory_rest ON memory (team, project, state) WHERE state <> 'active';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('memory', 'memory_rest', '20000 20000 1000 300'),
  ('vec_centre', 'vec_centre', '4 4 1');
ANALYZE sqlite_schema;
