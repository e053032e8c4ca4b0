-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- The last row of a chain that was authenticated, and its MAC: eight bytes of seq, and
-- HMAC-SHA256 with the store's key of digests over account, mode, seq and the row's
-- hash. NULL for a chain that programs before this version have written. They move the
-- head and leave the MAC, so that it may be of an earlier row. Written by
-- internal/access only.
ALTER TABLE audit_head ADD COLUMN mac BYTEA;
