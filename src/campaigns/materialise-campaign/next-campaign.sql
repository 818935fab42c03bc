-- Its row stays locked for the page, so that replicas share out campaigns and never pages of one.
SELECT c.tenant_id, c.campaign_id, c.revision, c.content_hash, c.state, c.state_reason, c.causation_id, c.traceparent,
       c.class, c.provider, c.on_unknown, c.materialised_through, r.content
FROM campaigns c
JOIN campaign_revisions r
  ON r.tenant_id = c.tenant_id AND r.campaign_id = c.campaign_id AND r.revision = c.revision
WHERE c.state = 'materialising'
ORDER BY c.changed_at
LIMIT 1
FOR NO KEY UPDATE OF c SKIP LOCKED
