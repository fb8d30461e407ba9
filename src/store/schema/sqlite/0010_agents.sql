-- 0010_agents.sql: agents that were declared, each with a role that says how far it reaches.

CREATE TABLE agent (
  team TEXT NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team NOT GLOB '*[^a-z0-9_-]*'),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^A-Za-z0-9_.-]*'),
  role TEXT NOT NULL CHECK (role IN ('admin', 'project', 'skill')),
  project TEXT CHECK ((role = 'project') = (project IS NOT NULL) AND (project IS NULL OR length(project) > 0)),
  note TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (team, name)
) STRICT, WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('agent', 'agent', '20 20 1');
ANALYZE sqlite_schema;
