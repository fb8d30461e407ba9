-- 0006: sessions of agents, what they hand on, what they must answer to, and their scratch values.

-- A session is live until it is ended. `started` is when its process began: together with host and pid it names that
-- process for good. A session with a connection lives as long as that; its pid is the server's.
CREATE TABLE session (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64),
  handle TEXT NOT NULL CHECK (length(handle) BETWEEN 3 AND 64),
  project TEXT NOT NULL DEFAULT '' CHECK (length(project) <= 200),
  source TEXT NOT NULL,
  cwd TEXT,
  host TEXT,
  pid INTEGER CHECK (pid > 0),
  started INTEGER,
  connection TEXT,
  client TEXT,
  client_version TEXT,
  task TEXT CHECK (length(task) <= 2000),
  last_item INTEGER NOT NULL DEFAULT 0, -- the newest action item that its boot has seen
  booted_at INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  ended_at INTEGER,
  end_reason TEXT,
  UNIQUE (team, handle),
  CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) STRICT;
CREATE INDEX session_live ON session (team, project) WHERE ended_at IS NULL;
CREATE INDEX session_connection ON session (connection) WHERE ended_at IS NULL AND connection IS NOT NULL;

-- Notes that a session leaves for the next one. They outlive it.
CREATE TABLE handoff (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  team TEXT NOT NULL,
  project TEXT NOT NULL DEFAULT '',
  session TEXT,
  source TEXT NOT NULL,
  text TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 2000),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX handoff_project ON handoff (team, project, id);

-- What somebody must answer to. One of a memory goes with it.
CREATE TABLE action_item (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  team TEXT NOT NULL,
  project TEXT NOT NULL DEFAULT '',
  memory_id INTEGER,
  text TEXT NOT NULL CHECK (length(trim(text)) > 0 AND length(text) <= 2000),
  kind TEXT NOT NULL CHECK (kind = 'task' OR kind = 'rule'),
  status TEXT NOT NULL DEFAULT 'pending'
    CHECK (status = 'pending' OR status = 'will_execute' OR status = 'already_done' OR status = 'not_relevant'),
  reason TEXT,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  decided_by TEXT,
  decided_session TEXT,
  decided_at INTEGER,
  UNIQUE (team, project, text),
  FOREIGN KEY (team, memory_id) REFERENCES memory (team, id) ON DELETE CASCADE,
  -- Rules do not complete.
  CHECK (kind = 'task' OR status <> 'already_done'),
  CHECK (status = 'pending' OR status = 'will_execute' OR (reason IS NOT NULL AND length(trim(reason)) > 0)),
  CHECK ((status = 'pending') = (decided_at IS NULL))
) STRICT;
CREATE INDEX action_pending ON action_item (team, project, id) WHERE status = 'pending';
CREATE INDEX action_memory ON action_item (team, memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE scratch (
  team TEXT NOT NULL,
  session TEXT NOT NULL,
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
  value TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (team, session, key),
  FOREIGN KEY (team, session) REFERENCES session (team, handle) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- Scratch values die with their session; one that may yet call again keeps them for a day.
CREATE TRIGGER scratch_ends AFTER UPDATE OF ended_at ON session
WHEN new.ended_at IS NOT NULL AND new.end_reason <> 'connection closed' AND new.end_reason <> 'silent' BEGIN
  DELETE FROM scratch WHERE team = new.team AND session = new.handle;
END;

-- When somebody last asked before an action; the action itself is a hash, for it may be anything.
CREATE TABLE checkpoint (
  team TEXT NOT NULL,
  project TEXT NOT NULL,
  source TEXT NOT NULL,
  action_hash TEXT NOT NULL CHECK (length(action_hash) = 64),
  at INTEGER NOT NULL,
  PRIMARY KEY (team, project, source, action_hash)
) STRICT, WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('session', 'sqlite_autoindex_session_1', '10000 10000 1'),
  ('session', 'session_live', '20 20 4'),
  ('session', 'session_connection', '20 1'),
  ('handoff', 'handoff_project', '5000 5000 200 1'),
  ('action_item', 'sqlite_autoindex_action_item_1', '2000 2000 100 1'),
  ('action_item', 'action_pending', '20 20 4 1'),
  ('action_item', 'action_memory', '2000 2000 2'),
  ('scratch', 'scratch', '200 200 10 1'),
  ('checkpoint', 'checkpoint', '200 200 50 20 1');
ANALYZE sqlite_schema;
