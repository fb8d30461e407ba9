-- 0012_retention.sql: reads and refusals may leave the log after a while; changes stay for good.

DROP TRIGGER event_append_only ON event;
CREATE TRIGGER event_append_only BEFORE DELETE ON event
FOR EACH ROW WHEN (old.txn IS NOT NULL OR old.change IS NOT NULL OR old.action NOT IN
  ('memory:read', 'memory:search', 'scope:refused', 'auth:failed', 'auth:locked'))
EXECUTE FUNCTION refuse('the event log is append-only');
