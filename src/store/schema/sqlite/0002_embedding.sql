-- 0002_embedding.sql: which vectors a team has, by which embedder, and a cache of vectors that were costly.

-- One row for each index that counts. Vectors of a model that has no row here are left over and go with the next
-- maintenance. How many chunks an index holds is counted, not noted.
CREATE TABLE vec_index (
  team TEXT NOT NULL,
  model TEXT NOT NULL, -- as in vec_block
  dims INTEGER NOT NULL CHECK (dims > 0),
  state TEXT NOT NULL CHECK (state = 'active' OR state = 'building' OR state = 'previous'),
  config TEXT NOT NULL, -- JSON: the settings that open its embedder; never a key
  started_at INTEGER NOT NULL,
  flipped_at INTEGER, -- when it became what it is now
  PRIMARY KEY (team, model)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX vec_index_state ON vec_index (team, state);

-- Until now there was one embedder.
INSERT INTO vec_index (team, model, dims, state, config, started_at, flipped_at)
  SELECT b.team, b.model, max(b.dims), 'active', '{"embedder":"' || b.model || '"}',
    coalesce((SELECT min(m.created_at) FROM memory m WHERE m.team = b.team), 0), NULL
  FROM vec_block b WHERE b.model = 'hash-v1' GROUP BY b.team, b.model;

-- hash is over the text as it is embedded; what is put before it is part of the model's name, as is that it was a
-- question.
CREATE TABLE embed_cache (
  team TEXT NOT NULL,
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  model TEXT NOT NULL,
  dims INTEGER NOT NULL CHECK (dims > 0),
  vector BLOB NOT NULL CHECK (length(vector) = dims),
  used_at INTEGER NOT NULL,
  PRIMARY KEY (team, hash, model, dims)
) STRICT, WITHOUT ROWID;
CREATE INDEX embed_cache_used ON embed_cache (team, used_at);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('vec_index', 'vec_index', '3 3 1'),
  ('vec_index', 'vec_index_state', '3 3 1'),
  ('embed_cache', 'embed_cache', '20000 20000 1 1 1'),
  ('embed_cache', 'embed_cache_used', '20000 20000 2');
ANALYZE sqlite_schema;
