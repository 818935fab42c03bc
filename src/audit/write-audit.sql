INSERT INTO audit (tenant_id, actor, action, object, reason, before, after)
SELECT i.tenant_id, i.actor, i.action, i.object, i.reason, i.before, i.after
FROM unnest(:tenants::text[], :actors::text[], :actions::text[], :objects::text[], :reasons::text[], :befores::json[],
            :afters::json[])
  AS i(tenant_id, actor, action, object, reason, before, after)
