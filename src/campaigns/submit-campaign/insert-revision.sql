INSERT INTO campaign_revisions (tenant_id, campaign_id, revision, content, content_hash)
VALUES (:tenant, :campaign, :revision, :content, :content_hash)
ON CONFLICT (tenant_id, campaign_id, revision) DO NOTHING
RETURNING content_hash
