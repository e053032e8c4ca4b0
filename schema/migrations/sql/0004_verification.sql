-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC.

-- Verifications of bank accounts and UPI addresses. Written by pipeline/verify only.
--
-- What is verified stands masked in target. The whole number or address and the name
-- that was expected are sealed in private, which is NULL from when a verdict was
-- reached: nobody needs them any more. digest is a keyed hash of what was asked, by
-- which a repetition is known; same is one of what was verified alone, by which an
-- earlier answer is found.
--
-- due_at, token, sent and sent_at are as in table recharge: a deposit that may have
-- been made is asked about before it is ever asked for again.
CREATE TABLE verification (
	id             TEXT   NOT NULL PRIMARY KEY, -- ver_ + ULID
	account_id     TEXT   NOT NULL REFERENCES account (id),
	mode           TEXT   NOT NULL,
	ref_id         TEXT, -- the client's; NULL for none
	digest         BYTEA  NOT NULL,
	same           BYTEA  NOT NULL,
	state          TEXT   NOT NULL CHECK (state IN ('pending', 'success', 'failed')),
	method         TEXT   NOT NULL CHECK (method IN ('penny_drop', 'upi')),
	target         TEXT   NOT NULL, -- account number or address, masked
	ifsc           TEXT   NOT NULL, -- empty for upi
	private        BYTEA,
	named          BIGINT NOT NULL, -- 0 or 1: a name was expected
	threshold      BIGINT NOT NULL, -- least score that passes; 100 takes only the same words
	provider       TEXT   NOT NULL,
	provider_ref   TEXT   NOT NULL, -- the bank's own
	sent           BIGINT NOT NULL, -- 0 or 1
	sent_at        BIGINT,          -- the last time; until the call has ended, when it can begin at the latest
	tries          BIGINT NOT NULL, -- looks without a final answer
	due_at         BIGINT,
	token          TEXT   NOT NULL, -- of the lease; empty for none
	trouble        TEXT   NOT NULL, -- code of why there is no answer yet; empty for none
	account_status TEXT   NOT NULL, -- active, dormant, frozen, closed; empty before it is known
	name_match     TEXT   NOT NULL, -- exact, partial, none
	score          BIGINT NOT NULL, -- 0 to 100
	verified       BIGINT NOT NULL, -- 0 or 1
	beneficiary    TEXT   NOT NULL, -- name registered with the bank
	bank           TEXT   NOT NULL,
	branch         TEXT   NOT NULL,
	reasons        TEXT   NOT NULL, -- JSON list of why the bank finds it suspicious; empty for no
	utr            TEXT   NOT NULL, -- reference of the deposit between banks
	error_code     TEXT   NOT NULL, -- of a failed one
	answered_by    TEXT   NOT NULL, -- id of the verification whose answer it repeats; empty for none
	key_id         TEXT   NOT NULL, -- who asked
	batch_id       TEXT   NOT NULL, -- empty for none
	batch_index    BIGINT NOT NULL,
	created_at     BIGINT NOT NULL,
	finished_at    BIGINT,
	UNIQUE (account_id, mode, ref_id)
);
CREATE INDEX verification_account ON verification (account_id, mode, id);
CREATE INDEX verification_due ON verification (mode, provider, due_at) WHERE due_at IS NOT NULL AND batch_id = '';
CREATE INDEX verification_due_batch ON verification (mode, provider, due_at) WHERE due_at IS NOT NULL AND batch_id <> '';
CREATE INDEX verification_pending ON verification (account_id, mode, id) WHERE state = 'pending';
CREATE INDEX verification_failed ON verification (account_id, mode, id) WHERE state = 'failed';
CREATE INDEX verification_finished ON verification (finished_at) WHERE finished_at IS NOT NULL AND batch_id = '';
CREATE INDEX verification_finished_batch ON verification (finished_at) WHERE finished_at IS NOT NULL AND batch_id <> '';
CREATE INDEX verification_same ON verification (account_id, mode, same, finished_at) WHERE finished_at IS NOT NULL;

-- Branches of banks, from a directory that the operator of this service has
-- imported. Written by pipeline/verify/branch only.
CREATE TABLE ifsc_branch (
	ifsc     TEXT NOT NULL PRIMARY KEY,
	bank     TEXT NOT NULL,
	branch   TEXT NOT NULL,
	address  TEXT NOT NULL,
	city     TEXT NOT NULL,
	district TEXT NOT NULL,
	state    TEXT NOT NULL
);

-- Least score of a name that passes where a request does not say; NULL for 70.
-- Written by internal/access only.
ALTER TABLE account ADD COLUMN name_tolerance BIGINT;

-- Batches: pipeline/batch deletes the items of those whose results have expired, and
-- keeps the row, by which a repeated ref_id is known. emptied_at is when; NULL before,
-- and for ever where results are.
ALTER TABLE batch ADD COLUMN emptied_at BIGINT;
CREATE INDEX batch_kept ON batch (kind, finished_at) WHERE finished_at IS NOT NULL AND emptied_at IS NULL;
CREATE INDEX batch_completed ON batch (account_id, mode, kind, id) WHERE state = 'completed' AND emptied_at IS NULL;
