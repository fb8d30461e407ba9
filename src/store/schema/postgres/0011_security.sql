-- 0011_security.sql: secrets that are encrypted, who may see them, tokens, deleted teams, texts that look like instructions.

-- The key itself is never here: only what tells it apart from others, and how it is made from a passphrase.
CREATE TABLE vault_key (
  team text COLLATE "C" NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team !~ '[^a-z0-9_-]'),
  id text COLLATE "C" NOT NULL CHECK (length(id) = 16 AND id !~ '[^0-9a-f]'),
  way text COLLATE "C" NOT NULL CHECK (way IN ('key', 'passphrase')),
  salt bytea,
  passes bigint,
  memory bigint,
  proof bytea NOT NULL, -- a known text, encrypted: a wrong key is noticed before anything is encrypted with it
  created_at bigint NOT NULL,
  PRIMARY KEY (team),
  CHECK ((way = 'passphrase') = (salt IS NOT NULL AND passes IS NOT NULL AND memory IS NOT NULL))
);

-- A secret has no plain value, and what is no secret has no encrypted one.
ALTER TABLE vault ADD COLUMN cipher bytea CHECK (cipher IS NULL OR length(cipher) <= 1001000);
ALTER TABLE vault DROP CONSTRAINT vault_is_secret_check;
ALTER TABLE vault ADD CONSTRAINT vault_is_secret_check CHECK (is_secret IN (0, 1));
ALTER TABLE vault ADD CONSTRAINT vault_cipher_or_value
  CHECK ((is_secret = 1) = (cipher IS NOT NULL) AND (is_secret = 0 OR value = ''));
-- Secrets are looked up all the time, to keep them out of texts; plain values may be many and large.
CREATE INDEX vault_secret ON vault (team, key) WHERE is_secret = 1;

-- Who may see the value of a secret; grantee: the name of an agent or a token, or '*' for every one of the team.
CREATE TABLE vault_grant (
  team text COLLATE "C" NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team !~ '[^a-z0-9_-]'),
  key text COLLATE "C" NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
  grantee text COLLATE "C" NOT NULL CHECK (length(grantee) BETWEEN 1 AND 128),
  uses bigint CHECK (uses IS NULL OR uses >= 0), -- that are left; NULL: any number
  created_at bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  expires_at bigint,
  PRIMARY KEY (team, key, grantee),
  FOREIGN KEY (team, key) REFERENCES vault (team, key) ON DELETE CASCADE
);

-- A token is cairn_TEAM.ID.SECRET: ID finds the row, and only a hash of SECRET is kept.
CREATE TABLE token (
  team text COLLATE "C" NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team !~ '[^a-z0-9_-]'),
  id text COLLATE "C" NOT NULL CHECK (length(id) = 12 AND id !~ '[^a-z2-7]'),
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 64 AND name !~ '[^A-Za-z0-9_.-]'),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  role text COLLATE "C" NOT NULL CHECK (role IN ('admin', 'project', 'skill')),
  projects text COLLATE "C" CHECK ((role = 'project') = (projects IS NOT NULL)), -- a JSON list of names
  access text COLLATE "C" NOT NULL CHECK (access IN ('read', 'write')),
  profile text COLLATE "C",
  created_at bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  used_at bigint,
  PRIMARY KEY (team, id),
  UNIQUE (team, name)
);

-- What is left of a team that was deleted: when, by whom, and how many rows of what.
CREATE TABLE team_removal (
  team text COLLATE "C" NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team !~ '[^a-z0-9_-]'),
  at bigint NOT NULL,
  by text COLLATE "C" NOT NULL,
  counts text COLLATE "C" NOT NULL,
  PRIMARY KEY (team, at)
);

-- Why a text looks like an attempt to instruct the model that reads it; NULL: it does not, or a person has looked at it.
ALTER TABLE memory ADD COLUMN suspect text COLLATE "C";

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['vault_key', 'vault_grant', 'token', 'team_removal'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY team ON %I USING (team = (SELECT current_setting(''cairn.team'', true))
      OR (SELECT current_setting(''cairn.team'', true)) = ''*'')
      WITH CHECK (team = current_setting(''cairn.team'', true) OR current_setting(''cairn.team'', true) = ''*'')', name);
  END LOOP;
END $$;
