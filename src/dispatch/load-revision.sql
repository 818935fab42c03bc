SELECT content FROM campaign_revisions WHERE tenant_id = :tenant AND campaign_id = :campaign AND revision = :revision
