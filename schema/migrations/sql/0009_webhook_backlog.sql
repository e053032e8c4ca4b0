-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC.

-- Webhooks whose waiting deliveries reached the limit, so that the account is told
-- that the oldest failed. Rows are deleted 30 days after reached_at, as the failed
-- deliveries are. Written by dispatch/delivery only.
CREATE TABLE webhook_backlog (
	webhook_id TEXT   NOT NULL PRIMARY KEY,
	reached_at BIGINT NOT NULL, -- when deliveries failed because of it last
	most       BIGINT NOT NULL, -- the limit at that time
	failed     BIGINT NOT NULL  -- how many failed because of it, since the row was made
);
