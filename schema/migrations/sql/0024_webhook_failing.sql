-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are microseconds since 1970 UTC.

-- Webhooks whose attempts all failed since a time. A row is deleted at the next acknowledgement. The event
-- webhook.failing is appended in the transaction that sets alerted_at, and webhook.recovered in the one that deletes the
-- row. Written by dispatch/delivery only.
CREATE TABLE webhook_failing (
	webhook_id TEXT   NOT NULL PRIMARY KEY,
	since      BIGINT NOT NULL, -- when the first of the failed attempts was recorded
	alerted_at BIGINT           -- when the account was alerted; NULL before
);
