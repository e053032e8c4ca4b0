-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- The first digit of the status with which the endpoint answered the newest attempt. 0 if it did not answer, NULL
-- before the first attempt, and for attempts before this version. Written by dispatch/delivery only, with the attempt.
ALTER TABLE delivery ADD COLUMN status_class BIGINT;

-- Deliveries that the endpoint did not acknowledge, by class and in the order of the list. An acknowledged delivery has
-- no entry, so it costs no writes.
CREATE INDEX delivery_class ON delivery (account_id, mode, status_class, id) WHERE status_class <> 2;
CREATE INDEX delivery_class_webhook ON delivery (webhook_id, status_class, id) WHERE status_class <> 2;
