-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- Active keys are counted before another is made. The rows of revoked and expired keys
-- stay, so without this index each key that was ever made would be read.
CREATE INDEX api_key_active ON api_key (account_id, mode, expires_at) WHERE revoked_at IS NULL;
