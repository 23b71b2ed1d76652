-- Takes a webhook. No row: it was taken before. $1 event, $2 provider, $3 the provider's name for it
INSERT INTO payment_webhooks (event_id, provider, provider_event_id)
VALUES ($1, $2, $3)
ON CONFLICT (event_id, provider, provider_event_id) DO NOTHING
