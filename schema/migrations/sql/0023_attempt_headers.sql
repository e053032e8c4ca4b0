-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Written by dispatch/delivery only, with the attempt. Both are
-- empty for attempts before this version.

-- The signature that was sent, and the header of the answer: lines "Name: value", 2 KiB at most, without secrets.
ALTER TABLE attempt ADD COLUMN signature TEXT NOT NULL DEFAULT '';
ALTER TABLE attempt ADD COLUMN header TEXT NOT NULL DEFAULT '';
