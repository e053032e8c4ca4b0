-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC.

-- What happened, in the bytes in which it is told. Written by dispatch/outbox, in
-- the transaction of the change that the event is about.
CREATE TABLE event (
	id         TEXT   NOT NULL PRIMARY KEY, -- evt_ + ULID
	account_id TEXT   NOT NULL REFERENCES account (id),
	mode       TEXT   NOT NULL,
	type       TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	envelope   BYTEA  NOT NULL -- JSON, spec 2.6; never written again
);
CREATE INDEX event_account ON event (account_id, mode, id);

-- Events that the relay has not brought on yet. Written by dispatch/outbox only.
CREATE TABLE outbox (
	event_id TEXT NOT NULL PRIMARY KEY REFERENCES event (id)
);

-- Which instance does what only one may do. Written by internal/leader only.
CREATE TABLE leader (
	name   TEXT   NOT NULL PRIMARY KEY,
	holder TEXT   NOT NULL,
	until  BIGINT NOT NULL
);

-- Counts the changes of webhook, as access_revision does for keys.
CREATE TABLE webhook_revision (
	id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	n  BIGINT  NOT NULL
);
INSERT INTO webhook_revision (id, n) VALUES (1, 0);

-- Subscriptions. Written by dispatch/subscription only.
CREATE TABLE webhook (
	id              TEXT   NOT NULL PRIMARY KEY, -- wh_ + ULID
	account_id      TEXT   NOT NULL REFERENCES account (id),
	mode            TEXT   NOT NULL,
	url             TEXT   NOT NULL,
	events          TEXT   NOT NULL, -- types, separated by blanks
	active          BIGINT NOT NULL, -- 0: paused, deliveries wait
	api_version     TEXT   NOT NULL,
	secret          BYTEA  NOT NULL, -- sealed
	secret_last4    TEXT   NOT NULL,
	previous_secret BYTEA,           -- sealed; signs beside the other
	previous_until  BIGINT,          -- until then
	created_at      BIGINT NOT NULL,
	deleted_at      BIGINT,          -- its waiting deliveries are being cancelled
	revision        BIGINT NOT NULL
);
CREATE INDEX webhook_account ON webhook (account_id, mode, id) WHERE deleted_at IS NULL;
CREATE INDEX webhook_revised ON webhook (revision);
CREATE INDEX webhook_deleted ON webhook (deleted_at) WHERE deleted_at IS NOT NULL;

-- One event for one subscription. Written by dispatch/delivery only.
--
-- An instance that takes a delivery moves due_at to the end of its lease and
-- writes its token: when it dies the delivery is due again by itself, and what
-- it says too late is known by the token.
CREATE TABLE delivery (
	id          TEXT   NOT NULL PRIMARY KEY, -- dlv_ + ULID
	event_id    TEXT   NOT NULL REFERENCES event (id),
	webhook_id  TEXT   NOT NULL REFERENCES webhook (id),
	account_id  TEXT   NOT NULL,
	mode        TEXT   NOT NULL,
	retry_of    TEXT   NOT NULL, -- the delivery that was retried by hand; empty for none
	state       TEXT   NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'cancelled')),
	attempts    BIGINT NOT NULL, -- that are recorded
	due_at      BIGINT NOT NULL, -- while waiting: when the next may be made
	token       TEXT   NOT NULL, -- of the lease; empty for none
	created_at  BIGINT NOT NULL,
	finished_at BIGINT,
	retried_as  TEXT   NOT NULL, -- the delivery that a retry by hand made; empty for none
	UNIQUE (event_id, webhook_id, retry_of)
);
CREATE INDEX delivery_account ON delivery (account_id, mode, id);
CREATE INDEX delivery_webhook ON delivery (webhook_id, id);
CREATE INDEX delivery_due ON delivery (webhook_id, due_at) WHERE state = 'waiting';
CREATE INDEX delivery_failed ON delivery (account_id, mode, id) WHERE state = 'failed';
CREATE INDEX delivery_failed_webhook ON delivery (webhook_id, id) WHERE state = 'failed';
CREATE INDEX delivery_retriable ON delivery (account_id, mode, id) WHERE state = 'failed' AND retried_as = '';
CREATE INDEX delivery_retriable_webhook ON delivery (webhook_id, id) WHERE state = 'failed' AND retried_as = '';
CREATE INDEX delivery_finished ON delivery (finished_at) WHERE finished_at IS NOT NULL;

-- One POST of a delivery. Written by dispatch/delivery only, in the transaction
-- that changes the delivery's state.
CREATE TABLE attempt (
	delivery_id TEXT   NOT NULL REFERENCES delivery (id),
	number      BIGINT NOT NULL, -- from 1
	at          BIGINT NOT NULL, -- when it was begun
	duration    BIGINT NOT NULL, -- microseconds
	stage       TEXT   NOT NULL, -- dns, connect, tls, write, wait, status
	http_status BIGINT NOT NULL, -- 0 for none
	error       TEXT   NOT NULL,
	body        BYTEA  NOT NULL, -- of the answer, 1 KiB at most
	recorded_at BIGINT NOT NULL,
	PRIMARY KEY (delivery_id, number)
);
CREATE INDEX attempt_recorded ON attempt (recorded_at);
