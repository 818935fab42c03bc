-- What was asked for, for whom, and what came back, in one statement. The key, its hash, the state and what was tried stay. The
-- address is replaced by a text of its own: it is asked for, and must be distinct within a campaign.
WITH input AS (
  SELECT i.tenant_id, i.operation_id
  FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
),
scrubbed AS (
  UPDATE operations o
  SET address_key = CASE WHEN o.address_key IS NOT NULL THEN 'scrubbed:' || o.operation_id END, scrubbed_at = now()
  FROM input i
  WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
  RETURNING 1
),
requests AS (
  DELETE FROM operation_requests r USING input i
  WHERE r.tenant_id = i.tenant_id AND r.operation_id = i.operation_id
  RETURNING 1
),
results AS (
  UPDATE checkpoints c SET result = NULL
  FROM input i
  WHERE c.tenant_id = i.tenant_id AND c.operation_id = i.operation_id AND c.result IS NOT NULL
  RETURNING 1
),
contents AS (
  UPDATE receipts r SET content = '{}'
  FROM input i
  WHERE r.tenant_id = i.tenant_id AND r.operation_id = i.operation_id AND r.content::text <> '{}'
  RETURNING 1
)
SELECT (SELECT count(*) FROM scrubbed)::integer AS operations, (SELECT count(*) FROM requests)::integer AS requests,
       (SELECT count(*) FROM results)::integer AS results, (SELECT count(*) FROM contents)::integer AS receipts
