-- Records answers. Fewer rows than keys: somebody else has decided one of them; who is about to do so
-- is waited for. $1 event, $2 subs, $3 keys, $4 fingerprints, $5 statuses, $6 bodies, $7 the order's
-- id if it was refused
INSERT INTO idempotency_keys (event_id, sub, key, fingerprint, status, body, refused_id)
SELECT $1, sub, key, fingerprint, status, body, refused_id
FROM unnest($2::text[], $3::text[], $4::bytea[], $5::smallint[], $6::text[], $7::uuid[])
    AS decided (sub, key, fingerprint, status, body, refused_id)
ORDER BY sub, key
ON CONFLICT (event_id, sub, key) DO NOTHING
