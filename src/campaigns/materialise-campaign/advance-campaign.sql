UPDATE campaigns SET materialised_through = :through, changed_at = now()
WHERE tenant_id = :tenant AND campaign_id = :campaign AND revision = :revision AND state = 'materialising'
RETURNING campaign_id
