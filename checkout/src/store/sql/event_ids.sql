SELECT event_id FROM events
