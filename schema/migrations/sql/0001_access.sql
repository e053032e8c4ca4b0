-- +goose Up

-- One text for SQLite and PostgreSQL. Times are microseconds since 1970 UTC,
-- hashes are raw bytes, lists are words separated by blanks. SQLite takes any
-- name for a type: BYTEA keeps bytes there too.
--
-- The one writer of these tables is internal/access.

-- What an installation knows about itself, such as which encryption key its
-- sealed columns need.
CREATE TABLE setting (
	name  TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);

-- Counts the changes of account and api_key. A writer raises it in its own
-- transaction, so that numbers become visible in their order and an instance
-- that has seen n needs to look at rows with a greater revision only.
CREATE TABLE access_revision (
	id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	n  BIGINT  NOT NULL
);
INSERT INTO access_revision (id, n) VALUES (1, 0);

CREATE TABLE account (
	id         TEXT   NOT NULL PRIMARY KEY, -- acc_ + ULID
	name       TEXT   NOT NULL UNIQUE,
	plan       TEXT   NOT NULL,
	allow_list TEXT   NOT NULL, -- CIDRs; empty for every address
	created_at BIGINT NOT NULL,
	revision   BIGINT NOT NULL
);
CREATE INDEX account_revision ON account (revision);

CREATE TABLE api_key (
	id                TEXT   NOT NULL PRIMARY KEY, -- key_ + ULID
	account_id        TEXT   NOT NULL REFERENCES account (id),
	mode              TEXT   NOT NULL CHECK (mode IN ('live', 'sandbox')),
	name              TEXT   NOT NULL,
	hash              BYTEA  NOT NULL UNIQUE, -- SHA-256 of the key
	prefix            TEXT   NOT NULL,        -- the first characters of the key, with which people tell keys apart
	last_four         TEXT   NOT NULL,
	scopes            TEXT   NOT NULL,
	allow_list        TEXT   NOT NULL, -- CIDRs; empty for every address
	require_signature BIGINT NOT NULL, -- 0 or 1
	signing_secret    BYTEA,           -- sealed; NULL unless signatures are required
	created_at        BIGINT NOT NULL,
	expires_at        BIGINT,
	revoked_at        BIGINT,
	rotated_from      TEXT,
	revision          BIGINT NOT NULL
);
CREATE INDEX api_key_account ON api_key (account_id, mode, id);
CREATE INDEX api_key_revision ON api_key (revision);

-- When a key was last used, written in groups and apart from api_key, because
-- being used is no change of a key.
CREATE TABLE api_key_use (
	key_id  TEXT   NOT NULL PRIMARY KEY REFERENCES api_key (id),
	used_at BIGINT NOT NULL
);

-- What counts towards an account's quota. The marks are set with the events.
CREATE TABLE quota_period (
	account_id  TEXT   NOT NULL REFERENCES account (id),
	period      TEXT   NOT NULL, -- month in UTC, 2026-11
	used        BIGINT NOT NULL,
	warned_at   BIGINT, -- 80 % was announced
	exceeded_at BIGINT, -- 100 % was announced
	changed_at  BIGINT NOT NULL,
	PRIMARY KEY (account_id, period)
);
CREATE INDEX quota_period_changed ON quota_period (changed_at);

CREATE TABLE usage_day (
	account_id TEXT   NOT NULL REFERENCES account (id),
	mode       TEXT   NOT NULL,
	day        TEXT   NOT NULL, -- UTC, 2026-11-21
	operation  TEXT   NOT NULL, -- method and path of the route
	calls      BIGINT NOT NULL, -- requests with a valid key
	failed     BIGINT NOT NULL, -- of these, answered with 4xx or 5xx
	counted    BIGINT NOT NULL, -- what they count towards the quota; always 0 in the sandbox
	PRIMARY KEY (account_id, mode, day, operation)
);

-- Signatures that were accepted, until their time window is over.
CREATE TABLE seen_signature (
	key_id     TEXT   NOT NULL,
	signature  BYTEA  NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (key_id, signature)
);
CREATE INDEX seen_signature_expires ON seen_signature (expires_at);

-- Replies of POST requests with an Idempotency-Key, written in the transaction
-- of what they did.
CREATE TABLE idempotent_reply (
	account_id  TEXT   NOT NULL REFERENCES account (id),
	mode        TEXT   NOT NULL,
	key         TEXT   NOT NULL,
	fingerprint BYTEA  NOT NULL, -- SHA-256 of method, path and body
	status      BIGINT NOT NULL,
	body        BYTEA  NOT NULL, -- sealed, with the Location before it: it may hold a key that is shown once
	expires_at  BIGINT NOT NULL,
	PRIMARY KEY (account_id, mode, key)
);
CREATE INDEX idempotent_reply_expires ON idempotent_reply (expires_at);

-- The audit log is append-only: nothing updates or deletes its rows. Each row's
-- hash covers the row and the hash before it, in a chain of its own for each
-- account and mode, so that accounts do not wait for each other.
CREATE TABLE audit (
	account_id TEXT   NOT NULL REFERENCES account (id),
	mode       TEXT   NOT NULL,
	seq        BIGINT NOT NULL, -- from 1, without gaps
	at         BIGINT NOT NULL,
	actor      TEXT   NOT NULL, -- key id, or what acted in place of a client
	action     TEXT   NOT NULL, -- key.create, recharge.success ...
	subject    TEXT   NOT NULL, -- id of what was changed
	request_id TEXT   NOT NULL,
	client     TEXT   NOT NULL, -- IP address
	detail     TEXT   NOT NULL, -- JSON; numbers of accounts are masked, names hashed
	hash       BYTEA  NOT NULL,
	PRIMARY KEY (account_id, mode, seq)
);
CREATE INDEX audit_at ON audit (account_id, mode, at);

-- The last row of each chain. Raising it is also the lock of the chain.
CREATE TABLE audit_head (
	account_id TEXT   NOT NULL REFERENCES account (id),
	mode       TEXT   NOT NULL,
	seq        BIGINT NOT NULL,
	hash       BYTEA  NOT NULL,
	PRIMARY KEY (account_id, mode)
);
