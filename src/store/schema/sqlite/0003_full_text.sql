-- Full text finds scripts without spaces and names of programs, and tells projects apart: derived tokens
-- (core/text/terms.h) in a column of their own. cairn_terms() belongs to every connection of the program.
DROP TRIGGER chunk_fts_insert;
DROP TRIGGER chunk_fts_delete;
DROP TRIGGER chunk_fts_update;
DROP TABLE chunk_fts;

ALTER TABLE chunk ADD COLUMN terms TEXT NOT NULL DEFAULT '';
UPDATE chunk SET terms = cairn_terms((SELECT m.project FROM memory m WHERE m.id = memory_id), headline, body, extra);

CREATE VIRTUAL TABLE chunk_fts USING fts5 (
  headline, body, extra, terms,
  content = 'chunk', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
-- A transaction that writes many memories notes the last chunk before them under 'full_text_held'; the texts behind it
-- enter the index together, at its end, and the note goes. No other transaction ever sees it.
CREATE TRIGGER chunk_fts_insert AFTER INSERT ON chunk
WHEN NOT EXISTS (SELECT 1 FROM meta WHERE name = 'full_text_held' AND new.id > CAST(value AS INTEGER)) BEGIN
  INSERT INTO chunk_fts (rowid, headline, body, extra, terms)
    VALUES (new.id, new.headline, new.body, new.extra, new.terms);
END;
CREATE TRIGGER chunk_fts_delete AFTER DELETE ON chunk
WHEN NOT EXISTS (SELECT 1 FROM meta WHERE name = 'full_text_held' AND old.id > CAST(value AS INTEGER)) BEGIN
  INSERT INTO chunk_fts (chunk_fts, rowid, headline, body, extra, terms)
    VALUES ('delete', old.id, old.headline, old.body, old.extra, old.terms);
END;
CREATE TRIGGER chunk_fts_update AFTER UPDATE OF headline, body, extra, terms ON chunk
WHEN NOT EXISTS (SELECT 1 FROM meta WHERE name = 'full_text_held' AND old.id > CAST(value AS INTEGER)) BEGIN
  INSERT INTO chunk_fts (chunk_fts, rowid, headline, body, extra, terms)
    VALUES ('delete', old.id, old.headline, old.body, old.extra, old.terms);
  INSERT INTO chunk_fts (rowid, headline, body, extra, terms)
    VALUES (new.id, new.headline, new.body, new.extra, new.terms);
END;
INSERT INTO chunk_fts (chunk_fts) VALUES ('rebuild');
