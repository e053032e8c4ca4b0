-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file.

-- Bank references (UTR) under which a payment succeeded. The primary key lets one
-- transfer credit one payment: of the live world whatever the account, of the
-- sandbox, where references are invented, within the account. Written by
-- pipeline/wallet only.
CREATE TABLE bank_transfer (
	scope      TEXT NOT NULL, -- 'live', or the account's id in the sandbox
	reference  TEXT NOT NULL, -- the payment's note in upper case without blanks
	payment_id TEXT NOT NULL REFERENCES payment (id),
	PRIMARY KEY (scope, reference)
);

-- If earlier versions credited a transfer twice, the first payment has the row.
INSERT INTO bank_transfer (scope, reference, payment_id)
SELECT CASE mode WHEN 'live' THEN 'live' ELSE account_id END, upper(replace(note, ' ', '')), min(id)
FROM payment WHERE state = 'success' AND replace(note, ' ', '') <> ''
GROUP BY 1, 2;
