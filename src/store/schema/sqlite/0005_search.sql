-- 0005_search.sql: what a search asks besides texts and vectors: who stands next to whom in a transcript, and how much
-- is embedded, without counting.
CREATE INDEX memory_session ON memory (team, session, id) WHERE session IS NOT NULL;

CREATE TABLE chunk_count (
  team TEXT PRIMARY KEY,
  n INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO chunk_count (team, n) SELECT team, count(*) FROM chunk GROUP BY team;
CREATE TRIGGER chunk_count_up AFTER INSERT ON chunk BEGIN
  INSERT INTO chunk_count (team, n) VALUES (new.team, 1) ON CONFLICT (team) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER chunk_count_down AFTER DELETE ON chunk BEGIN
  UPDATE chunk_count SET n = n - 1 WHERE team = old.team;
END;

-- Vectors of a block that are there: used counts places, also those that were emptied.
ALTER TABLE vec_block ADD COLUMN live INTEGER NOT NULL DEFAULT 0;
UPDATE vec_block SET live = (SELECT count(*) FROM vec_slot s WHERE s.place BETWEEN id * 1024 AND id * 1024 + 1023);
CREATE TRIGGER vec_live_up AFTER INSERT ON vec_slot BEGIN
  UPDATE vec_block SET live = live + 1 WHERE id = new.place / 1024;
END;
CREATE TRIGGER vec_live_down AFTER DELETE ON vec_slot BEGIN
  UPDATE vec_block SET live = live - 1 WHERE id = old.place / 1024;
END;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('memory', 'memory_session', '100000 100000 20 1'),
  ('chunk_count', 'chunk_count', '4 1');
ANALYZE sqlite_schema;
