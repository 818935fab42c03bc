-- One row for all conflicts of a tenant in this transaction: rows of its own, so that nobody waits for anybody. Each writer takes
-- away a few that are too old to be counted.
WITH old AS (
  DELETE FROM conflicts c
  USING (
    SELECT k.conflict_id
    FROM conflicts k
    WHERE k.tenant_id = :tenant AND k.told_at < now() - interval '2 days'
    ORDER BY k.told_at
    LIMIT 10
    FOR UPDATE SKIP LOCKED
  ) o
  WHERE c.conflict_id = o.conflict_id
)
INSERT INTO conflicts (tenant_id, requests) VALUES (:tenant, :requests::integer)
