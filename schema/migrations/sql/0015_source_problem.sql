-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC.

-- The problems that sources of readings have. Written by ingest/monitor only.
CREATE TABLE source_problem (
	scope   TEXT   NOT NULL, -- live or sandbox; with an embedded engine beside a shared store also the id of the engine
	source  TEXT   NOT NULL, -- name of the source
	problem TEXT   NOT NULL, -- failing, silent, coverage, drift or clock
	since   BIGINT NOT NULL, -- when it was found
	detail  TEXT   NOT NULL, -- what was found
	PRIMARY KEY (scope, source, problem)
);
