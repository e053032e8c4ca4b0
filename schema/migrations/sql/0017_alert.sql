-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC, and NULL for none.

-- Counts the changes of alerts by their accounts, as webhook_revision does for webhooks.
CREATE TABLE alert_revision (
	id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	n  BIGINT  NOT NULL
);
INSERT INTO alert_revision (id, n) VALUES (1, 0);

-- Alerts about the air of a place. Written by query/alert only: the definition by requests,
-- the state by the evaluation, too.
CREATE TABLE alert (
	id           TEXT   NOT NULL PRIMARY KEY, -- alt_ + ULID
	account_id   TEXT   NOT NULL REFERENCES account (id),
	mode         TEXT   NOT NULL,
	definition   TEXT   NOT NULL, -- JSON: place, condition, hysteresis and the rest; {} once deleted
	active       BIGINT NOT NULL, -- 0: paused, not evaluated
	state        TEXT   NOT NULL CHECK (state IN ('ok', 'triggered')),
	level        BIGINT NOT NULL, -- of a condition "change": the last known level; -1 for none
	before       BIGINT NOT NULL, -- the level before that; -1 for none
	hour         BIGINT NOT NULL, -- end of the hour whose figures made the last change; 0 for none
	changed_at   BIGINT,          -- when the state changed last
	triggered_at BIGINT,          -- when the last event air.alert.triggered was made
	version      BIGINT NOT NULL, -- counts the changes of the state; a change needs the version that it has read
	created_at   BIGINT NOT NULL,
	updated_at   BIGINT NOT NULL,
	deleted_at   BIGINT,          -- purged an hour later
	revision     BIGINT NOT NULL  -- of the last change by the account
);
CREATE INDEX alert_account ON alert (account_id, mode, id) WHERE deleted_at IS NULL;
CREATE INDEX alert_revised ON alert (revision);
CREATE INDEX alert_deleted ON alert (deleted_at) WHERE deleted_at IS NOT NULL;

-- Changes of the state, each with its event. Written by query/alert only, in the transaction
-- of the change. Rows are deleted after a year.
CREATE TABLE alert_change (
	alert_id TEXT   NOT NULL REFERENCES alert (id),
	number   BIGINT NOT NULL, -- the version of the alert after the change
	at       BIGINT NOT NULL,
	event_id TEXT   NOT NULL,
	data     TEXT   NOT NULL, -- JSON: the data of the event
	PRIMARY KEY (alert_id, number)
);
CREATE INDEX alert_change_at ON alert_change (at);

-- The newest hour whose evaluation is complete, so that a new leader evaluates the hours since.
-- Written by query/alert only.
CREATE TABLE alert_evaluation (
	mode TEXT   NOT NULL PRIMARY KEY,
	hour BIGINT NOT NULL
);
