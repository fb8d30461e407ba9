-- 0009_documents.sql: texts that are searched beside memories: extracted items, messages of transcripts, sources.
ALTER TABLE memory ADD COLUMN corpus TEXT NOT NULL DEFAULT 'memory'
  CHECK (corpus = 'memory' OR corpus = 'items' OR corpus = 'sessions' OR corpus = 'sources');

-- The indexes of memories stay free of documents, however many there are; what visible() asks, it asks in their words.
DROP INDEX memory_live;
DROP INDEX memory_recent;
DROP INDEX memory_task;
-- The last three let visible memories be counted without reading their rows.
CREATE INDEX memory_live ON memory (team, project, kind, created_at, state, expires_at, corpus)
  WHERE state = 'active' AND corpus = 'memory';
CREATE INDEX memory_recent ON memory (team, corpus, created_at) WHERE corpus = 'memory';
CREATE INDEX memory_task ON memory (team, status, project)
  WHERE kind = 'task' AND state = 'active' AND corpus = 'memory';
CREATE INDEX memory_document ON memory (team, corpus, project) WHERE corpus <> 'memory';

DROP TRIGGER memory_immutable;
CREATE TRIGGER memory_immutable
BEFORE UPDATE OF id, uid, team, project, kind, type, key, headline, valid_from, created_at, confidence, corroborated,
  verified_at, auto_captured, source, session, corpus ON memory BEGIN
  SELECT RAISE(ABORT, 'a memory is never changed in place: supersede it');
END;

-- Vectors of documents lie in blocks of their own: a search among memories does not scan them.
ALTER TABLE vec_block ADD COLUMN documents INTEGER NOT NULL DEFAULT 0 CHECK (documents = 0 OR documents = 1);
CREATE INDEX vec_block_room ON vec_block (team, model, documents);

-- A file or a session, with what tells whether it has changed.
CREATE TABLE document_group (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64),
  corpus TEXT NOT NULL CHECK (corpus = 'items' OR corpus = 'sessions' OR corpus = 'sources'),
  project TEXT NOT NULL CHECK (length(project) <= 200),
  path TEXT NOT NULL CHECK (path <> ''),
  hash TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (team, corpus, project, path)
) STRICT, WITHOUT ROWID;

-- Where a document stands. Its text is that of its row in `memory`, whose corpus is not 'memory'.
CREATE TABLE document (
  memory_id INTEGER PRIMARY KEY,
  team TEXT NOT NULL,
  corpus TEXT NOT NULL CHECK (corpus = 'items' OR corpus = 'sessions' OR corpus = 'sources'),
  project TEXT NOT NULL,
  path TEXT NOT NULL CHECK (path <> ''),
  ref TEXT NOT NULL, -- names it in its group
  line INTEGER NOT NULL CHECK (line >= 0), -- 0: none
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  hash TEXT NOT NULL CHECK (length(hash) = 64), -- of what it says
  UNIQUE (team, corpus, project, path, ref),
  FOREIGN KEY (team, memory_id) REFERENCES memory (team, id) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER document_of_memory BEFORE INSERT ON document
WHEN NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = new.memory_id AND m.team = new.team AND m.corpus = new.corpus
  AND m.project = new.project) BEGIN
  SELECT RAISE(ABORT, 'a memory is no document of this corpus');
END;

-- Folders that are indexed as sources.
CREATE TABLE source_root (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64),
  project TEXT NOT NULL CHECK (length(project) <= 200),
  path TEXT NOT NULL CHECK (path <> ''),
  added_at INTEGER NOT NULL,
  PRIMARY KEY (team, project, path)
) STRICT, WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('memory', 'memory_live', '100000 100000 5000 2000 1 1 1 1'),
  ('memory', 'memory_recent', '100000 100000 100000 1'),
  ('memory', 'memory_task', '1000 1000 250 50'),
  ('memory', 'memory_document', '100000 100000 50000 20000'),
  ('vec_block', 'vec_block_room', '120 120 120 60'),
  ('document_group', 'document_group', '10000 10000 5000 2000 1'),
  ('document', 'sqlite_autoindex_document_1', '100000 100000 50000 20000 10 1'),
  ('source_root', 'source_root', '10 10 3 1');
ANALYZE sqlite_schema;
