-- 0010_agents.sql: agents that were declared, each with a role that says how far it reaches.

CREATE TABLE agent (
  team text COLLATE "C" NOT NULL CHECK (length(team) BETWEEN 1 AND 64 AND team !~ '[^a-z0-9_-]'),
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 64 AND name !~ '[^A-Za-z0-9_.-]'),
  role text COLLATE "C" NOT NULL CHECK (role IN ('admin', 'project', 'skill')),
  project text COLLATE "C" CHECK ((role = 'project') = (project IS NOT NULL)
    AND (project IS NULL OR length(project) > 0)),
  note text COLLATE "C",
  created_at bigint NOT NULL,
  PRIMARY KEY (team, name)
);

ALTER TABLE agent ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY team ON agent USING (team = (SELECT current_setting('cairn.team', true))
  OR (SELECT current_setting('cairn.team', true)) = '*')
  WITH CHECK (team = current_setting('cairn.team', true) OR current_setting('cairn.team', true) = '*');
