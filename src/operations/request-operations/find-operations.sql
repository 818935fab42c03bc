-- Refused at arrival: nothing has changed the row since its request came.
SELECT o.tenant_id, o.operation_id, o.operation_key, o.state, o.state_reason, o.payload_hash, o.effect_id, o.attempts,
       o.created_at, o.changed_at = o.created_at AND o.state IN ('rejected', 'expired', 'cancelled') AS refused_at_arrival
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN operations o USING (tenant_id, operation_id)
