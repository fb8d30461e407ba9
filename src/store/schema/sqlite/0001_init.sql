-- 0001_init.sql: the whole first schema. What must never be stored is refused here, whatever the program does.

-- Facts about the store itself: when it was made, when it was last maintained, and an epoch that changes when its
-- content is replaced by a restore.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Filled by the program from its table of types, at each migration.
CREATE TABLE memory_type (
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('rule', 'fact', 'incident', 'task')),
  PRIMARY KEY (name, kind)
) STRICT, WITHOUT ROWID;

-- One row for each command that changed something; its changes are the events that name it.
CREATE TABLE txn (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  team TEXT NOT NULL,
  at INTEGER NOT NULL,
  op TEXT NOT NULL,
  source TEXT NOT NULL,
  session TEXT,
  undoes INTEGER REFERENCES txn (id)
) STRICT;
CREATE UNIQUE INDEX txn_undoes ON txn (undoes) WHERE undoes IS NOT NULL;

-- Choices are written with OR: for IN and more than two values SQLite builds a table of them at every row, which
-- costs as much as the rest of the row.
CREATE TABLE memory (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL CHECK (length(uid) = 36 AND uid NOT GLOB '*[^0-9a-f-]*'),
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team NOT GLOB '*[^a-z0-9_-]*'),
  project TEXT NOT NULL DEFAULT '' CHECK (length(project) <= 200),
  kind TEXT NOT NULL CHECK (kind = 'rule' OR kind = 'fact' OR kind = 'incident' OR kind = 'task'),
  type TEXT NOT NULL,
  severity TEXT CHECK (severity = 'blocker' OR severity = 'pattern' OR severity = 'deprecated'),
  key TEXT CHECK (length(key) BETWEEN 1 AND 200),
  -- At most 15 words: the gate folds white space to single blanks.
  headline TEXT NOT NULL
    CHECK (length(trim(headline)) > 0 AND length(headline) - length(replace(headline, ' ', '')) < 15),
  delivery TEXT NOT NULL DEFAULT 'on_demand'
    CHECK (delivery = 'boot' OR delivery = 'pinned' OR delivery = 'skill' OR delivery = 'on_demand'),
  skill_name TEXT CHECK (length(skill_name) BETWEEN 1 AND 100),
  skill_always_on INTEGER NOT NULL DEFAULT 0 CHECK (skill_always_on IN (0, 1)),
  weight REAL NOT NULL DEFAULT 1.0 CHECK (weight BETWEEN 0.1 AND 1.0),
  confidence TEXT CHECK (confidence = 'high' OR confidence = 'medium' OR confidence = 'low'),
  corroborated INTEGER CHECK (corroborated >= 0),
  verified_at INTEGER,
  trust TEXT NOT NULL
    CHECK (trust = 'user' OR trust = 'agent' OR trust = 'tool' OR trust = 'import' OR trust = 'extraction'),
  auto_captured INTEGER NOT NULL DEFAULT 0 CHECK (auto_captured IN (0, 1)),
  state TEXT NOT NULL DEFAULT 'active'
    CHECK (state = 'active' OR state = 'superseded' OR state = 'forgotten' OR state = 'expired' OR state = 'archived'
      OR state = 'faded'),
  state_reason TEXT,
  state_by TEXT,
  state_at INTEGER,
  valid_from INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  access_count INTEGER NOT NULL DEFAULT 0 CHECK (access_count >= 0),
  last_accessed INTEGER,
  upvotes INTEGER NOT NULL DEFAULT 0 CHECK (upvotes >= 0),
  downvotes INTEGER NOT NULL DEFAULT 0 CHECK (downvotes >= 0),
  status TEXT CHECK (status = 'open' OR status = 'blocked' OR status = 'done' OR status = 'stale'),
  priority TEXT CHECK (priority = 'high' OR priority = 'medium' OR priority = 'low'),
  milestone TEXT,
  due TEXT,
  claimed_by TEXT,
  claimed_at INTEGER,
  root_cause TEXT,
  resolution TEXT,
  source TEXT NOT NULL,
  session TEXT,
  UNIQUE (team, id),
  UNIQUE (team, uid),
  FOREIGN KEY (type, kind) REFERENCES memory_type (name, kind),
  CHECK ((kind = 'rule') = (severity IS NOT NULL)),
  CHECK ((kind = 'task') = (status IS NOT NULL)),
  CHECK ((kind = 'task') = (priority IS NOT NULL)),
  CHECK (kind = 'task' OR (milestone IS NULL AND due IS NULL AND claimed_by IS NULL)),
  CHECK (kind = 'incident' OR (root_cause IS NULL AND resolution IS NULL)),
  CHECK (delivery <> 'skill' OR skill_name IS NOT NULL),
  CHECK ((claimed_by IS NULL) = (claimed_at IS NULL)),
  -- An inactive memory always says why and since when.
  CHECK (state = 'active' OR (state_reason IS NOT NULL AND state_at IS NOT NULL)),
  CHECK (severity IS NULL OR severity <> 'deprecated' OR state <> 'active')
) STRICT;

CREATE UNIQUE INDEX memory_key ON memory (team, project, key) WHERE state = 'active' AND key IS NOT NULL;
CREATE UNIQUE INDEX memory_skill ON memory (team, skill_name) WHERE state = 'active' AND skill_name IS NOT NULL;
-- The last two let visible memories be counted without reading their rows.
CREATE INDEX memory_live ON memory (team, project, kind, created_at, state, expires_at) WHERE state = 'active';
CREATE INDEX memory_recent ON memory (team, created_at);
CREATE INDEX memory_any_key ON memory (team, key, project) WHERE key IS NOT NULL;
CREATE INDEX memory_expiry ON memory (expires_at) WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX memory_task ON memory (team, status, project) WHERE kind = 'task' AND state = 'active';

CREATE TABLE body (
  memory_id INTEGER PRIMARY KEY,
  team TEXT NOT NULL,
  text TEXT NOT NULL CHECK (length(trim(text)) > 0 AND instr(text, char(0)) = 0),
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  FOREIGN KEY (team, memory_id) REFERENCES memory (team, id) ON DELETE CASCADE
) STRICT;
-- Exact restatements are found by the hash of the normalised text.
CREATE INDEX body_hash ON body (team, hash);

-- Tags, people, topics and the other lists of a memory.
CREATE TABLE label (
  team TEXT NOT NULL,
  memory_id INTEGER NOT NULL,
  field TEXT NOT NULL,
  pos INTEGER NOT NULL,
  value TEXT NOT NULL CHECK (value <> ''),
  PRIMARY KEY (memory_id, field, pos),
  FOREIGN KEY (team, memory_id) REFERENCES memory (team, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX label_value ON label (team, field, value);

CREATE TABLE annotation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  team TEXT NOT NULL,
  memory_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  text TEXT NOT NULL CHECK (text <> ''),
  FOREIGN KEY (team, memory_id) REFERENCES memory (team, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX annotation_memory ON annotation (memory_id);

-- src REL dst: "src supersedes dst", "src is blocked_by dst", "src shadows dst" (in src's project alone).
CREATE TABLE link (
  team TEXT NOT NULL,
  src INTEGER NOT NULL,
  rel TEXT NOT NULL
    CHECK (rel IN ('supersedes', 'shadows', 'contradicts', 'relates', 'derived_from', 'cites', 'blocked_by')),
  dst INTEGER NOT NULL CHECK (dst <> src),
  at INTEGER NOT NULL,
  reason TEXT,
  -- What superseding changed on dst (JSON), so that it can be given back exactly.
  prior TEXT,
  PRIMARY KEY (src, rel, dst),
  FOREIGN KEY (team, src) REFERENCES memory (team, id) ON DELETE CASCADE,
  FOREIGN KEY (team, dst) REFERENCES memory (team, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX link_one_successor ON link (dst) WHERE rel = 'supersedes';
CREATE INDEX link_dst ON link (dst, rel);

-- The text as it is searched.
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  team TEXT NOT NULL,
  memory_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  headline TEXT NOT NULL,
  body TEXT NOT NULL,
  extra TEXT NOT NULL, -- key, tags, annotations
  UNIQUE (memory_id, seq),
  FOREIGN KEY (team, memory_id) REFERENCES memory (team, id) ON DELETE CASCADE
) STRICT;

CREATE VIRTUAL TABLE chunk_fts USING fts5 (
  headline, body, extra,
  content = 'chunk', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
-- A transaction that writes many memories notes the last chunk before them under 'full_text_held'; the texts behind it
-- enter the index together, at its end, and the note goes. No other transaction ever sees it.
CREATE TRIGGER chunk_fts_insert AFTER INSERT ON chunk
WHEN NOT EXISTS (SELECT 1 FROM meta WHERE name = 'full_text_held' AND new.id > CAST(value AS INTEGER)) BEGIN
  INSERT INTO chunk_fts (rowid, headline, body, extra) VALUES (new.id, new.headline, new.body, new.extra);
END;
CREATE TRIGGER chunk_fts_delete AFTER DELETE ON chunk
WHEN NOT EXISTS (SELECT 1 FROM meta WHERE name = 'full_text_held' AND old.id > CAST(value AS INTEGER)) BEGIN
  INSERT INTO chunk_fts (chunk_fts, rowid, headline, body, extra)
    VALUES ('delete', old.id, old.headline, old.body, old.extra);
END;
CREATE TRIGGER chunk_fts_update AFTER UPDATE OF headline, body, extra ON chunk
WHEN NOT EXISTS (SELECT 1 FROM meta WHERE name = 'full_text_held' AND old.id > CAST(value AS INTEGER)) BEGIN
  INSERT INTO chunk_fts (chunk_fts, rowid, headline, body, extra)
    VALUES ('delete', old.id, old.headline, old.body, old.extra);
  INSERT INTO chunk_fts (rowid, headline, body, extra) VALUES (new.id, new.headline, new.body, new.extra);
END;

-- Vectors, in blocks of up to 1,024 places. The head of a block is what a search scans: for each place 8 bytes, the
-- chunk's id (0 = free), and the sign bits of its vector; it is written in place, and version counts the changes, for
-- caches. The vector itself, one int8 for each dimension, is a row of its own.
CREATE TABLE vec_block (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  team TEXT NOT NULL,
  model TEXT NOT NULL,
  dims INTEGER NOT NULL CHECK (dims > 0),
  used INTEGER NOT NULL CHECK (used BETWEEN 0 AND 1024),
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX vec_block_model ON vec_block (team, model);
CREATE TABLE vec_head (
  block INTEGER PRIMARY KEY REFERENCES vec_block (id) ON DELETE CASCADE,
  places BLOB NOT NULL
) STRICT;
CREATE TABLE vec_slot (
  place INTEGER PRIMARY KEY, -- block * 1024 + number in the block
  chunk_id INTEGER NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vec_slot_chunk ON vec_slot (chunk_id, model);

-- The append-only log. `before` and `after` hold the fields that changed; a deletion holds the whole record.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  team TEXT NOT NULL,
  txn INTEGER REFERENCES txn (id),
  at INTEGER NOT NULL,
  action TEXT NOT NULL, -- memory:write, memory:read, memory:search, ...
  change TEXT
    CHECK (change = 'insert' OR change = 'update' OR change = 'delete' OR change = 'link' OR change = 'unlink'
      OR change = 'annotate' OR change = 'setting' OR change = 'purge'),
  op TEXT NOT NULL,
  memory_id INTEGER,
  uid TEXT,
  project TEXT NOT NULL,
  source TEXT NOT NULL,
  session TEXT,
  before TEXT,
  after TEXT,
  detail TEXT,
  purged INTEGER NOT NULL DEFAULT 0 CHECK (purged IN (0, 1)),
  CHECK ((change IS NULL) OR (txn IS NOT NULL))
) STRICT;
CREATE INDEX event_txn ON event (txn) WHERE txn IS NOT NULL;
CREATE INDEX event_memory ON event (memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE idempotency (
  team TEXT NOT NULL,
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
  at INTEGER NOT NULL,
  memory_id INTEGER,
  result TEXT NOT NULL,
  PRIMARY KEY (team, key)
) STRICT, WITHOUT ROWID;

-- What was purged; blocks a re-import.
CREATE TABLE tombstone (
  team TEXT NOT NULL,
  uid TEXT NOT NULL,
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  PRIMARY KEY (team, uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
  team TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (team, name)
) STRICT, WITHOUT ROWID;

-- Rules that a CHECK cannot express.

CREATE TRIGGER memory_immutable
BEFORE UPDATE OF id, uid, team, project, kind, type, key, headline, valid_from, created_at, confidence, corroborated,
  verified_at, auto_captured, source, session ON memory BEGIN
  SELECT RAISE(ABORT, 'a memory is never changed in place: supersede it');
END;
CREATE TRIGGER body_immutable BEFORE UPDATE ON body BEGIN
  SELECT RAISE(ABORT, 'a body is never changed in place: supersede the memory');
END;
CREATE TRIGGER memory_purged BEFORE INSERT ON memory
WHEN EXISTS (SELECT 1 FROM tombstone t WHERE t.team = new.team AND t.uid = new.uid) BEGIN
  SELECT RAISE(ABORT, 'this memory was purged');
END;
-- No other reason can bring back what a correction retired.
CREATE TRIGGER memory_stays_superseded BEFORE UPDATE OF state ON memory
WHEN new.state NOT IN ('superseded', 'forgotten')
  AND EXISTS (SELECT 1 FROM link l WHERE l.dst = new.id AND l.rel = 'supersedes') BEGIN
  SELECT RAISE(ABORT, 'this memory is superseded: unsupersede it first');
END;

CREATE TRIGGER link_immutable BEFORE UPDATE ON link BEGIN
  SELECT RAISE(ABORT, 'a link is never changed in place');
END;
-- A path can only lead back to a memory that something points at: a new version, the usual case, is settled at once
-- however long its chain is.
CREATE TRIGGER link_acyclic BEFORE INSERT ON link
WHEN new.rel IN ('supersedes', 'blocked_by')
  AND (new.src = new.dst OR EXISTS (SELECT 1 FROM link i WHERE i.dst = new.src AND i.rel = new.rel))
  AND EXISTS (
  WITH RECURSIVE reach (id) AS (
    SELECT new.dst
    UNION
    SELECT l.dst FROM link l JOIN reach r ON l.src = r.id WHERE l.rel = new.rel
  ) SELECT 1 FROM reach WHERE id = new.src) BEGIN
  SELECT RAISE(ABORT, 'this link would close a cycle');
END;
CREATE TRIGGER link_tasks BEFORE INSERT ON link
WHEN new.rel = 'blocked_by'
  AND (SELECT count(*) FROM memory m WHERE m.id IN (new.src, new.dst) AND m.kind = 'task') <> 2 BEGIN
  SELECT RAISE(ABORT, 'only a task can block a task');
END;
CREATE TRIGGER link_shadows BEFORE INSERT ON link
WHEN new.rel = 'shadows' AND NOT (
  (SELECT m.project FROM memory m WHERE m.id = new.src) <> ''
  AND (SELECT m.project FROM memory m WHERE m.id = new.dst) = '') BEGIN
  SELECT RAISE(ABORT, 'only a memory of a project can shadow a global one');
END;

CREATE TRIGGER event_append_only BEFORE DELETE ON event BEGIN
  SELECT RAISE(ABORT, 'the event log is append-only');
END;
-- The one change that an event may see is a purge taking its texts away.
CREATE TRIGGER event_immutable BEFORE UPDATE ON event
WHEN NOT (new.purged = 1 AND new.before IS NULL AND new.after IS NULL AND new.detail IS NULL
  AND new.seq = old.seq AND new.team = old.team AND new.txn IS old.txn AND new.at = old.at
  AND new.action = old.action AND new.change IS old.change AND new.op = old.op
  AND new.memory_id IS old.memory_id AND new.uid IS old.uid AND new.project = old.project
  AND new.source = old.source AND new.session IS old.session) BEGIN
  SELECT RAISE(ABORT, 'the event log is append-only');
END;
CREATE TRIGGER txn_immutable BEFORE UPDATE ON txn BEGIN
  SELECT RAISE(ABORT, 'the transaction log is append-only');
END;
CREATE TRIGGER txn_append_only BEFORE DELETE ON txn BEGIN
  SELECT RAISE(ABORT, 'the transaction log is append-only');
END;

-- What the planner believes: the shape of a large store of one team. Measured statistics would say the same; without
-- any it takes every team for a dozen rows, and walks through all of them where a hash or an id is at hand. Fixed
-- numbers give every store, small or large, the same plans. (The first ANALYZE only makes the table.)
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('txn', 'sqlite_autoindex_txn_1', '100000 1'),
  ('txn', 'txn_undoes', '1000 1'),
  ('memory', 'sqlite_autoindex_memory_1', '100000 100000 1'),
  ('memory', 'sqlite_autoindex_memory_2', '100000 100000 1'),
  ('memory', 'memory_key', '10000 10000 500 1'),
  ('memory', 'memory_skill', '50 50 1'),
  ('memory', 'memory_live', '100000 100000 5000 2000 1 1 1'),
  ('memory', 'memory_recent', '100000 100000 1'),
  ('memory', 'memory_any_key', '10000 10000 2 1'),
  ('memory', 'memory_expiry', '1000 1'),
  ('memory', 'memory_task', '1000 1000 250 50'),
  ('body', 'body_hash', '100000 100000 1'),
  ('label', 'label', '300000 3 2 1'),
  ('label', 'label_value', '300000 300000 60000 30'),
  ('annotation', 'annotation_memory', '5000 2'),
  ('link', 'link', '20000 2 1 1'),
  ('link', 'link_one_successor', '5000 1'),
  ('link', 'link_dst', '20000 2 1'),
  ('chunk', 'sqlite_autoindex_chunk_1', '120000 1 1'),
  ('chunk_fts_data', NULL, '100000'),
  ('chunk_fts_idx', 'chunk_fts_idx', '100000 2000 1'),
  ('chunk_fts_docsize', NULL, '120000'),
  ('vec_block', 'vec_block_model', '120 120 120'),
  ('vec_slot', 'vec_slot_chunk', '120000 1 1'),
  ('event', 'event_txn', '300000 2'),
  ('event', 'event_memory', '300000 3'),
  ('idempotency', 'idempotency', '1000 1000 1'),
  ('tombstone', 'tombstone', '100 100 1'),
  ('setting', 'setting', '10 10 1');
ANALYZE sqlite_schema;
