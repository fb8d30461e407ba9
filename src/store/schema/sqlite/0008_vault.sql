-- 0008_vault.sql: named values of a team: counters, flags, cached state. Never searched, never part of a prompt.

-- A secret must be encrypted, and nothing here encrypts yet: until then the schema takes none.
CREATE TABLE vault (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team NOT GLOB '*[^a-z0-9_-]*'),
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
  value TEXT NOT NULL CHECK (length(value) <= 1000000 AND instr(value, char(0)) = 0),
  is_secret INTEGER NOT NULL DEFAULT 0 CHECK (is_secret = 0),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  PRIMARY KEY (team, key)
) STRICT, WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('vault', 'vault', '1000 1000 1');
ANALYZE sqlite_schema;
