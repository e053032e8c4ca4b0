-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC, and NULL for none.

-- Past readings that are fetched by command. A source has at most one that is running.
-- Rows are deleted 90 days after they ended. Written by ingest/backfill only.
CREATE TABLE source_backfill (
	id          TEXT   NOT NULL PRIMARY KEY, -- bf_ + ULID
	scope       TEXT   NOT NULL, -- as in source_progress
	source      TEXT   NOT NULL,
	from_at     BIGINT NOT NULL,
	to_at       BIGINT NOT NULL,
	partitions  TEXT   NOT NULL, -- JSON list of the wanted keys; empty for all
	parallel    BIGINT NOT NULL, -- partitions that are fetched at a time
	state       TEXT   NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
	listed      BIGINT NOT NULL, -- 1 if source_backfill_part has all partitions
	stored      BIGINT NOT NULL, -- readings
	requests    BIGINT NOT NULL,
	error       TEXT   NOT NULL, -- the last one; empty for none
	created_at  BIGINT NOT NULL,
	updated_at  BIGINT NOT NULL,
	finished_at BIGINT
);
CREATE UNIQUE INDEX source_backfill_running ON source_backfill (scope, source) WHERE state = 'running';
CREATE INDEX source_backfill_source ON source_backfill (scope, source, id);

-- How far each partition is fetched: from fetched_from to the end of the backfill. A
-- source without partitions has one row with an empty key. Written by ingest/backfill only.
CREATE TABLE source_backfill_part (
	backfill_id  TEXT   NOT NULL REFERENCES source_backfill (id),
	part         TEXT   NOT NULL,
	fields       TEXT   NOT NULL, -- JSON object: what the network states about the partition
	fetched_from BIGINT NOT NULL,
	failures     BIGINT NOT NULL, -- since the last successful fetch
	PRIMARY KEY (backfill_id, part)
);

-- Calls of APIs, so that processes share a call budget and a restart does not forget it.
-- A source has one budget, whatever the world. Written by ingest/progress only.
CREATE TABLE source_calls (
	source     TEXT   NOT NULL PRIMARY KEY,
	state      TEXT   NOT NULL, -- JSON of ingest/source/described/budget
	updated_at BIGINT NOT NULL
);
