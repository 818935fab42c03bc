-- Approved ones go on at once or wait for their time; waiting ones whose time has come go on.
UPDATE campaigns
SET state = CASE WHEN scheduled_for > now() THEN 'scheduled' ELSE 'materialising' END, changed_at = now()
WHERE (state = 'approved') OR (state = 'scheduled' AND scheduled_for <= now())
RETURNING tenant_id, campaign_id, state
