-- 0011_security.sql: secrets that are encrypted, who may see them, tokens, deleted teams, texts that look like instructions.

-- The key itself is never here: only what tells it apart from others, and how it is made from a passphrase.
CREATE TABLE vault_key (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team NOT GLOB '*[^a-z0-9_-]*'),
  id TEXT NOT NULL CHECK (length(id) = 16 AND id NOT GLOB '*[^0-9a-f]*'),
  way TEXT NOT NULL CHECK (way IN ('key', 'passphrase')),
  salt BLOB,
  passes INTEGER,
  memory INTEGER,
  proof BLOB NOT NULL, -- a known text, encrypted: a wrong key is noticed before anything is encrypted with it
  created_at INTEGER NOT NULL,
  PRIMARY KEY (team),
  CHECK ((way = 'passphrase') = (salt IS NOT NULL AND passes IS NOT NULL AND memory IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- A secret has no plain value, and what is no secret has no encrypted one.
CREATE TABLE vault_new (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team NOT GLOB '*[^a-z0-9_-]*'),
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
  value TEXT NOT NULL CHECK (length(value) <= 1000000 AND instr(value, char(0)) = 0),
  is_secret INTEGER NOT NULL DEFAULT 0 CHECK (is_secret IN (0, 1)),
  cipher BLOB CHECK (cipher IS NULL OR length(cipher) <= 1001000),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  PRIMARY KEY (team, key),
  CHECK ((is_secret = 1) = (cipher IS NOT NULL) AND (is_secret = 0 OR value = ''))
) STRICT, WITHOUT ROWID;
INSERT INTO vault_new (team, key, value, is_secret, created_at, updated_at, updated_by)
  SELECT team, key, value, is_secret, created_at, updated_at, updated_by FROM vault;
DROP TABLE vault;
ALTER TABLE vault_new RENAME TO vault;
-- Secrets are looked up all the time, to keep them out of texts; plain values may be many and large.
CREATE INDEX vault_secret ON vault (team, key) WHERE is_secret = 1;

-- Who may see the value of a secret; grantee: the name of an agent or a token, or '*' for every one of the team.
CREATE TABLE vault_grant (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team NOT GLOB '*[^a-z0-9_-]*'),
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
  grantee TEXT NOT NULL CHECK (length(grantee) BETWEEN 1 AND 128),
  uses INTEGER CHECK (uses IS NULL OR uses >= 0), -- that are left; NULL: any number
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (team, key, grantee),
  FOREIGN KEY (team, key) REFERENCES vault (team, key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- A token is cairn_TEAM.ID.SECRET: ID finds the row, and only a hash of SECRET is kept.
CREATE TABLE token (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team NOT GLOB '*[^a-z0-9_-]*'),
  id TEXT NOT NULL CHECK (length(id) = 12 AND id NOT GLOB '*[^a-z2-7]*'),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^A-Za-z0-9_.-]*'),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  role TEXT NOT NULL CHECK (role IN ('admin', 'project', 'skill')),
  projects TEXT CHECK ((role = 'project') = (projects IS NOT NULL)), -- a JSON list of names
  access TEXT NOT NULL CHECK (access IN ('read', 'write')),
  profile TEXT,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  used_at INTEGER,
  PRIMARY KEY (team, id),
  UNIQUE (team, name)
) STRICT, WITHOUT ROWID;

-- What is left of a team that was deleted: when, by whom, and how many rows of what.
CREATE TABLE team_removal (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team NOT GLOB '*[^a-z0-9_-]*'),
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (team, at)
) STRICT, WITHOUT ROWID;

-- Why a text looks like an attempt to instruct the model that reads it; NULL: it does not, or a person has looked at it.
ALTER TABLE memory ADD COLUMN suspect TEXT;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('vault', 'vault', '1000 1000 1'), ('vault', 'vault_secret', '100 20 1'), ('vault_key', 'vault_key', '20 1'),
  ('vault_grant', 'vault_grant', '1000 1000 2 1'), ('token', 'token', '100 100 1'),
  ('team_removal', 'team_removal', '20 2 1');
ANALYZE sqlite_schema;
