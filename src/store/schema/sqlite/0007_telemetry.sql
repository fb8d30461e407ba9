-- 0007: calls of tools, with how long they took and how they ended, of all processes. What was changed is in the event
-- log; this table may lose rows with the machine, and keeps the last ones alone.
CREATE TABLE tool_call (
  id INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE CHECK (length(event_id) = 36 AND event_id NOT GLOB '*[^0-9a-f-]*'),
  team TEXT NOT NULL,
  session TEXT,
  tool TEXT NOT NULL CHECK (length(tool) BETWEEN 1 AND 64),
  op TEXT NOT NULL,
  project TEXT NOT NULL,
  source TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration_us INTEGER NOT NULL CHECK (duration_us >= 0),
  error TEXT, -- NULL: it succeeded
  message TEXT CHECK (length(message) <= 500),
  CHECK ((message IS NULL) OR (error IS NOT NULL))
) STRICT;
CREATE INDEX tool_call_at ON tool_call (team, at);
CREATE INDEX tool_call_error ON tool_call (team, at) WHERE error IS NOT NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('tool_call', 'sqlite_autoindex_tool_call_1', '100000 1'),
  ('tool_call', 'tool_call_at', '100000 25000 2'),
  ('tool_call', 'tool_call_error', '5000 2500 2');
ANALYZE sqlite_schema;
