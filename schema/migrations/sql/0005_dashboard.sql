-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC.

-- Browsers that are signed in, each with the rights of the key that it was
-- exchanged for and no longer than the key has them. A row is deleted when its
-- session ends, by whomever. Written by internal/access only.
CREATE TABLE session (
	id         TEXT   NOT NULL PRIMARY KEY, -- ses_ + ULID
	hash       BYTEA  NOT NULL UNIQUE, -- SHA-256 of the token that the browser has
	key_id     TEXT   NOT NULL REFERENCES api_key (id),
	client     TEXT   NOT NULL, -- IP address that signed in
	agent      TEXT   NOT NULL, -- what the browser calls itself
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX session_key ON session (key_id, id);
CREATE INDEX session_expires ON session (expires_at);

-- What an operator or a bank was asked about a recharge or a verification, and what
-- kind of answer came. The same answer to the same question again is counted in
-- the row of the first, so that what waits for days has few rows. A recharge or
-- verification whose first answer was final has none: its own row says it all.
-- Written by pipeline/transaction only.
CREATE TABLE upstream_step (
	subject  TEXT   NOT NULL, -- txn_ or ver_ + ULID
	number   BIGINT NOT NULL, -- from 1
	act      TEXT   NOT NULL, -- what was done: submit, enquire, callback ...
	answer   TEXT   NOT NULL, -- what came of it: pending, no_answer, unknown ...
	first_at BIGINT NOT NULL, -- of the first and
	last_at  BIGINT NOT NULL, -- the last time
	times    BIGINT NOT NULL, -- how often
	PRIMARY KEY (subject, number)
);

-- What an event is about: the recharge, verification, payment or batch; empty for
-- none, and for events that are older than the column.
ALTER TABLE event ADD COLUMN subject TEXT NOT NULL DEFAULT '';
CREATE INDEX event_subject ON event (account_id, mode, subject, id) WHERE subject <> '';

CREATE INDEX audit_subject ON audit (account_id, mode, subject, seq);
