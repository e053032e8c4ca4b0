-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC.

-- What a change on PostgreSQL leaves in its own transaction, so that it can be
-- asked for when the answer to its COMMIT was lost. A row is looked for within
-- seconds, and deleted minutes later. It is in no dump, and SQLite, where no answer
-- can be lost, never has one. Written by internal/sqlstore only.
CREATE TABLE commit_proof (
	id     TEXT   NOT NULL PRIMARY KEY, -- ULID of the change
	at     BIGINT NOT NULL,             -- by the clock of the server
	undone BIGINT NOT NULL              -- 0: by the change itself; 1: by who asked, and it can not be committed any more
);
