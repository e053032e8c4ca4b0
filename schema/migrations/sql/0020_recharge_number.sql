-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- Finds recharges by their number while it is in clear, in the order of the list.
CREATE INDEX recharge_number ON recharge (account_id, mode, number, id) WHERE number_digest IS NULL;
