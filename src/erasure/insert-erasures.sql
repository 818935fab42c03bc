INSERT INTO erasures (tenant_id, erasure_id, requested_by, reason, subscriber_ids, address_keys, report)
SELECT i.tenant_id, i.erasure_id, i.requested_by, i.reason, array(SELECT json_array_elements_text(i.subscriber_ids)),
       array(SELECT json_array_elements_text(i.address_keys)), i.report
FROM unnest(:tenants::text[], :erasure_ids::uuid[], :actors::text[], :reasons::text[], :subscriber_ids::json[],
            :address_keys::json[], :reports::json[])
  AS i(tenant_id, erasure_id, requested_by, reason, subscriber_ids, address_keys, report)
