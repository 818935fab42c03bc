SELECT r.content_hash, c.revision AS newest_revision, c.state
FROM campaign_revisions r JOIN campaigns c USING (tenant_id, campaign_id)
WHERE r.tenant_id = :tenant AND r.campaign_id = :campaign AND r.revision = :revision
