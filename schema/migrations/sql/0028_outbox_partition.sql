-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- The partition of the event's account. It is NULL in rows of older versions: a hash of the account is not available in SQL.
ALTER TABLE outbox ADD COLUMN partition BIGINT;
CREATE INDEX outbox_partition ON outbox (partition, event_id);
