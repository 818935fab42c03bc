-- A statement of its own, so that the next one sees what whoever held a campaign has left: an operation that was redriven.
SELECT campaign_id FROM campaigns
WHERE state = 'sending'
ORDER BY tenant_id, campaign_id
FOR NO KEY UPDATE
