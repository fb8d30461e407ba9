-- 0009_documents.sql: texts that are searched beside memories: extracted items, messages of transcripts, sources.
ALTER TABLE memory ADD COLUMN corpus text COLLATE "C" NOT NULL DEFAULT 'memory'
  CHECK (corpus IN ('memory', 'items', 'sessions', 'sources'));

-- The indexes of memories stay free of documents, however many there are; what visible() asks, it asks in their words.
DROP INDEX memory_live;
DROP INDEX memory_recent;
DROP INDEX memory_task;
CREATE INDEX memory_live ON memory (team, project, kind, created_at) WHERE state = 'active' AND corpus = 'memory';
CREATE INDEX memory_recent ON memory (team, created_at) WHERE corpus = 'memory';
CREATE INDEX memory_task ON memory (team, status, project)
  WHERE kind = 'task' AND state = 'active' AND corpus = 'memory';
CREATE INDEX memory_document ON memory (team, corpus, project) WHERE corpus <> 'memory';

DROP TRIGGER memory_immutable ON memory;
CREATE TRIGGER memory_immutable
BEFORE UPDATE OF id, uid, team, project, kind, type, key, headline, valid_from, created_at, confidence, corroborated,
  verified_at, auto_captured, source, session, corpus ON memory
FOR EACH ROW EXECUTE FUNCTION refuse('a memory is never changed in place: supersede it');

-- A file or a session, with what tells whether it has changed.
CREATE TABLE document_group (
  team text COLLATE "C" NOT NULL CHECK (length(team) BETWEEN 1 AND 64),
  corpus text COLLATE "C" NOT NULL CHECK (corpus IN ('items', 'sessions', 'sources')),
  project text COLLATE "C" NOT NULL CHECK (length(project) <= 200),
  path text COLLATE "C" NOT NULL CHECK (path <> ''),
  hash text COLLATE "C" NOT NULL,
  size bigint NOT NULL CHECK (size >= 0),
  changed_at bigint NOT NULL,
  PRIMARY KEY (team, corpus, project, path)
);

-- Where a document stands. Its text is that of its row in `memory`, whose corpus is not 'memory'.
CREATE TABLE document (
  memory_id bigint NOT NULL,
  team text COLLATE "C" NOT NULL,
  corpus text COLLATE "C" NOT NULL CHECK (corpus IN ('items', 'sessions', 'sources')),
  project text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL CHECK (path <> ''),
  ref text COLLATE "C" NOT NULL, -- names it in its group
  line bigint NOT NULL CHECK (line >= 0), -- 0: none
  confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  hash text COLLATE "C" NOT NULL CHECK (length(hash) = 64), -- of what it says
  PRIMARY KEY (team, memory_id),
  UNIQUE (team, corpus, project, path, ref),
  FOREIGN KEY (team, memory_id) REFERENCES memory (team, id) ON DELETE CASCADE
);
CREATE FUNCTION document_of_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM memory m WHERE m.team = new.team AND m.id = new.memory_id AND m.corpus = new.corpus
    AND m.project = new.project) THEN
    RAISE EXCEPTION USING ERRCODE = '23000', MESSAGE = 'a memory is no document of this corpus';
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER document_of_memory AFTER INSERT ON document
FOR EACH ROW EXECUTE FUNCTION document_of_memory();

-- Folders that are indexed as sources.
CREATE TABLE source_root (
  team text COLLATE "C" NOT NULL CHECK (length(team) BETWEEN 1 AND 64),
  project text COLLATE "C" NOT NULL CHECK (length(project) <= 200),
  path text COLLATE "C" NOT NULL CHECK (path <> ''),
  added_at bigint NOT NULL,
  PRIMARY KEY (team, project, path)
);

-- The second wall, as for every table that has a team.
DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['document_group', 'document', 'source_root'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY team ON %I USING (team = (SELECT current_setting(''cairn.team'', true))'
      ' OR (SELECT current_setting(''cairn.team'', true)) = ''*'') WITH CHECK'
      ' (team = current_setting(''cairn.team'', true) OR current_setting(''cairn.team'', true) = ''*'')', t);
  END LOOP;
END $$;
