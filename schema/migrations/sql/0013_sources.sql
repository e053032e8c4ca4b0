-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC, and NULL for none.

-- How far each source of readings is fetched. Written by ingest/progress only.
CREATE TABLE source_progress (
	scope      TEXT   NOT NULL, -- live or sandbox; with an embedded engine beside a shared store also the id of the engine
	source     TEXT   NOT NULL, -- name of the feed
	revision   BIGINT NOT NULL, -- counts changes by operators
	config     TEXT   NOT NULL, -- SHA-256 of the configuration at the last change
	watermark  BIGINT, -- the readings up to here are fetched
	oldest     BIGINT, -- the history from here on is fetched
	newest     BIGINT, -- end of the newest stored reading
	target     BIGINT, -- watermark after the run in progress, of a source with partitions
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (scope, source)
);

-- The partitions of sources, such as sensors. Rows that did not change for 90 days
-- are deleted. Written by ingest/progress only.
CREATE TABLE source_partition (
	scope      TEXT   NOT NULL,
	source     TEXT   NOT NULL,
	part       TEXT   NOT NULL, -- key of the partition
	watermark  BIGINT NOT NULL,
	failures   BIGINT NOT NULL, -- failed fetches since the last successful one
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (scope, source, part)
);
