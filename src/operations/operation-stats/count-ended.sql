-- The whole ledger, once for all tenants. In the order of the table: grouped by the tenant as it is, the planner would take the rows in
-- the order of an index, one by one.
SELECT o.tenant_id || '' AS tenant, o.state, count(*)::float8 AS operations
FROM operations o
WHERE o.state NOT IN ('awaiting-approval', 'queued', 'claimed', 'calling', 'unknown')
GROUP BY o.tenant_id || '', o.state
