-- Deliveries that wait for the relay: it publishes what is told instead, as for whoever is suppressed by then. A relay that has
-- read one before this publishes it, and the operation stays accepted, which is then true.
UPDATE outbox o SET recipient_key = NULL, message_value = NULL, headers = '[]'
WHERE o.tenant_id = :tenant AND o.recipient_key IS NOT NULL AND o.recipient_key = ANY (:address_keys::text[])
RETURNING o.outbox_id
