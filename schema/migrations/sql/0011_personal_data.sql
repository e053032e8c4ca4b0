-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- A keyed hash of the number of a recharge, by which a repeated ref_id is compared after
-- number was masked; NULL while number is in clear. Written by pipeline/recharge only.
ALTER TABLE recharge ADD COLUMN number_digest BYTEA;

-- Settled recharges whose number is in clear, the oldest first.
CREATE INDEX recharge_clear ON recharge (finished_at)
	WHERE number_digest IS NULL AND due_at IS NULL AND finished_at IS NOT NULL AND (alarm = '' OR resolved_at IS NOT NULL);

-- 1: recharge.* events go to this subscription with numbers in clear. Written by
-- dispatch/subscription only.
ALTER TABLE webhook ADD COLUMN clear_numbers BIGINT NOT NULL DEFAULT 0;
-- Webhooks from before were made for events with the number in clear: they keep it.
UPDATE webhook SET clear_numbers = 1;
