-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC.

-- Usage by API key, beside usage_day, which has no keys. The same transaction writes
-- both. Rows are deleted when they expire, 400 days after their day: a key and an
-- operation would otherwise leave a row per day forever. A key may be missing, because
-- its usage outlives it. Written by internal/access/quota only.
CREATE TABLE usage_key_day (
	account_id TEXT   NOT NULL REFERENCES account (id),
	mode       TEXT   NOT NULL,
	day        TEXT   NOT NULL, -- UTC, 2026-11-21
	key_id     TEXT   NOT NULL,
	operation  TEXT   NOT NULL, -- method and path of the route
	calls      BIGINT NOT NULL, -- as in usage_day
	failed     BIGINT NOT NULL,
	counted    BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (account_id, mode, day, key_id, operation)
);

CREATE INDEX usage_key_day_expires ON usage_key_day (expires_at);
