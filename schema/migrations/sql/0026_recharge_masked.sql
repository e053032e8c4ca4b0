-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- Finds recharges by the masked text that their replies show, in the order of the list.
CREATE INDEX recharge_masked ON recharge (account_id, mode, number, id) WHERE number_digest IS NOT NULL;
