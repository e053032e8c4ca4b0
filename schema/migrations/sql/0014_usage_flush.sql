-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC.

-- The batches of usage that were written lately. If the reply to COMMIT is lost, the
-- instance writes the batch again, and finds its row here. Rows are deleted when they
-- expire. Written by internal/access/quota only.
CREATE TABLE usage_flush (
	id         TEXT   NOT NULL PRIMARY KEY,
	expires_at BIGINT NOT NULL
);

CREATE INDEX usage_flush_expires ON usage_flush (expires_at);
