-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- The trace in which an event happened, as a W3C traceparent; empty when traces are
-- off, and for events that are older than the column. Written by dispatch/outbox only.
ALTER TABLE event ADD COLUMN trace TEXT NOT NULL DEFAULT '';
