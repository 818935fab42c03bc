-- Locked: what is read is what the cancellation finds. By key and id: with the id alone, a plan made while the table was empty may go
-- through all of the tenant's operations.
SELECT o.state
FROM operations o
WHERE o.tenant_id = :tenant AND o.operation_key = :operation_key AND o.operation_id = :operation_id
FOR NO KEY UPDATE
