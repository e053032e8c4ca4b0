-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are
-- microseconds since 1970 UTC, amounts of money are paise.

-- What an account can spend, and what is set aside for recharges whose outcome is
-- not known. A cache of the postings to its ledgers available and held, changed in
-- their transaction. Written by pipeline/wallet only.
CREATE TABLE wallet (
	account_id TEXT   NOT NULL REFERENCES account (id),
	mode       TEXT   NOT NULL,
	available  BIGINT NOT NULL CHECK (available >= 0),
	held       BIGINT NOT NULL CHECK (held >= 0),
	PRIMARY KEY (account_id, mode)
);

-- The books. An entry is what happened to one subject (a recharge, a payment):
-- its kind says what, and its postings add up to nothing. A kind happens to a
-- subject once. Rows are never changed. Written by pipeline/wallet only.
--
-- Ledgers: available and held are the account's; cash is what it has paid in,
-- clearing:NAME what an operator has been given for it, suspense what an operator
-- has taken that nobody was charged for. What an account has is positive.
CREATE TABLE posting (
	subject    TEXT   NOT NULL, -- txn_ or pay_ + ULID
	kind       TEXT   NOT NULL CHECK (kind IN ('topup', 'reserve', 'commit', 'release', 'refund', 'suspend')),
	ledger     TEXT   NOT NULL,
	account_id TEXT   NOT NULL REFERENCES account (id),
	mode       TEXT   NOT NULL,
	amount     BIGINT NOT NULL,
	at         BIGINT NOT NULL,
	PRIMARY KEY (subject, kind, ledger)
);
CREATE INDEX posting_account ON posting (account_id, mode, at);

-- Money on its way into a wallet. Written by pipeline/wallet only.
CREATE TABLE payment (
	id           TEXT   NOT NULL PRIMARY KEY, -- pay_ + ULID
	account_id   TEXT   NOT NULL REFERENCES account (id),
	mode         TEXT   NOT NULL,
	ref_id       TEXT, -- the client's; NULL for none
	method       TEXT   NOT NULL,
	amount       BIGINT NOT NULL CHECK (amount > 0),
	state        TEXT   NOT NULL CHECK (state IN ('pending', 'success', 'failed')),
	error_code   TEXT   NOT NULL, -- of a failed one
	note         TEXT   NOT NULL, -- of who decided it, such as a bank's reference
	balance      BIGINT,          -- what could be spent once it was decided
	created_at   BIGINT NOT NULL,
	completed_at BIGINT,
	UNIQUE (account_id, mode, ref_id)
);
CREATE INDEX payment_account ON payment (account_id, mode, id);
CREATE INDEX payment_pending ON payment (id) WHERE state = 'pending';

-- Recharges. Written by pipeline/recharge only, and resolved_at by its reconcile.
--
-- due_at is when an instance should look at it next: to send it, to enquire, or to
-- ask for its refund; NULL when there is nothing left to do. An instance that takes
-- it moves due_at to the end of its lease and writes its token, as with deliveries.
-- sent is 1 from before the first moment in which the provider may have it: from
-- then on the provider is asked about it before it is sent again.
CREATE TABLE recharge (
	id            TEXT   NOT NULL PRIMARY KEY, -- txn_ + ULID
	account_id    TEXT   NOT NULL REFERENCES account (id),
	mode          TEXT   NOT NULL,
	ref_id        TEXT   NOT NULL,
	state         TEXT   NOT NULL CHECK (state IN ('pending', 'success', 'failed', 'refunded')),
	type          TEXT   NOT NULL,
	number        TEXT   NOT NULL, -- ten digits, or the id of a DTH subscriber; as it came when it is not valid
	asked         TEXT   NOT NULL, -- the operator that was asked for; empty for auto
	operator      TEXT   NOT NULL, -- who carries it out; empty when it failed before that was known
	circle        TEXT   NOT NULL,
	detection     TEXT   NOT NULL, -- lookup or series; empty when nothing was detected
	amount        BIGINT NOT NULL,
	provider      TEXT   NOT NULL, -- who was asked; empty for nobody
	reference     TEXT   NOT NULL, -- under which the provider knows it
	first_provider TEXT,          -- who was asked under the id, before it went on under another reference; NULL when it did not
	provider_ref  TEXT   NOT NULL, -- the provider's own
	sent          BIGINT NOT NULL, -- 0 or 1
	sent_at       BIGINT,          -- the last time; until the call has ended, when it can begin at the latest
	tries         BIGINT NOT NULL, -- looks without a final answer
	due_at        BIGINT,
	token         TEXT   NOT NULL, -- of the lease; empty for none
	told_pending  BIGINT NOT NULL, -- 0 or 1: recharge.pending was sent
	error_code    TEXT   NOT NULL,
	error_message TEXT   NOT NULL,
	alarm         TEXT   NOT NULL, -- late_success or late_failure: the provider said otherwise afterwards; empty for none
	stray_at      BIGINT,          -- when he said that he has carried out an order which is not the one of reference; NULL for never
	resolved_at   BIGINT,          -- when somebody said what came of the alarm
	refund_id     TEXT   NOT NULL, -- rfd_ + ULID, from when it was asked for; empty for none
	refund_reason TEXT   NOT NULL,
	batch_id      TEXT   NOT NULL, -- empty for none
	batch_index   BIGINT NOT NULL,
	created_at    BIGINT NOT NULL,
	finished_at   BIGINT, -- when it left pending
	refunded_at   BIGINT,
	UNIQUE (account_id, mode, ref_id)
);
CREATE INDEX recharge_account ON recharge (account_id, mode, id);
-- Records of batches may have only some of the room of a provider, so they are found apart.
CREATE INDEX recharge_due ON recharge (mode, provider, due_at) WHERE due_at IS NOT NULL AND batch_id = '';
CREATE INDEX recharge_due_batch ON recharge (mode, provider, due_at) WHERE due_at IS NOT NULL AND batch_id <> '';
CREATE INDEX recharge_pending ON recharge (account_id, mode, id) WHERE state = 'pending';
CREATE INDEX recharge_failed ON recharge (account_id, mode, id) WHERE state = 'failed';
CREATE INDEX recharge_refunded ON recharge (account_id, mode, id) WHERE state = 'refunded';
CREATE INDEX recharge_alarm ON recharge (alarm, id) WHERE alarm <> '' AND resolved_at IS NULL;
CREATE INDEX recharge_reference ON recharge (mode, provider, reference);

-- Batches. Written by pipeline/batch only.
CREATE TABLE batch (
	id          TEXT   NOT NULL PRIMARY KEY, -- rbt_ or bat_ + ULID
	account_id  TEXT   NOT NULL REFERENCES account (id),
	mode        TEXT   NOT NULL,
	kind        TEXT   NOT NULL, -- recharge
	ref_id      TEXT,            -- the client's; NULL for none
	fingerprint BYTEA  NOT NULL, -- keyed hash of the body
	state       TEXT   NOT NULL CHECK (state IN ('queued', 'processing', 'completed')),
	total       BIGINT NOT NULL,
	successful  BIGINT NOT NULL,
	failed      BIGINT NOT NULL,
	key_id      TEXT   NOT NULL, -- who asked, for the audit log
	request_id  TEXT   NOT NULL,
	client      TEXT   NOT NULL,
	created_at  BIGINT NOT NULL,
	finished_at BIGINT,
	UNIQUE (account_id, mode, kind, ref_id)
);
CREATE INDEX batch_account ON batch (account_id, mode, kind, id);
CREATE INDEX batch_open ON batch (account_id, mode, kind, id) WHERE state <> 'completed';

-- The records of a batch that are not all begun yet, some in each row. A row is
-- leased as a whole, and deleted when all of its records have an item. Written by
-- pipeline/batch only.
CREATE TABLE batch_chunk (
	batch_id   TEXT   NOT NULL REFERENCES batch (id),
	first      BIGINT NOT NULL, -- index of its first record, from 0
	count      BIGINT NOT NULL, -- of its records
	kind       TEXT   NOT NULL, -- of the batch
	account_id TEXT   NOT NULL,
	records    BYTEA  NOT NULL, -- JSON values as the client sent them, with commas between; sealed
	due_at     BIGINT NOT NULL, -- when it may be leased; of a leased one the end of the lease
	token      TEXT   NOT NULL, -- of the lease; empty for none
	tries      BIGINT NOT NULL, -- leases in a row in which no record was begun
	PRIMARY KEY (batch_id, first)
);
CREATE INDEX batch_chunk_account ON batch_chunk (kind, account_id, batch_id, first);

-- One record of a batch that was begun. Written by pipeline/batch only. That its
-- batch is there is not checked for each: the check would lock the row of the batch
-- that all of its records change when they are done.
CREATE TABLE batch_item (
	batch_id TEXT   NOT NULL,
	place    BIGINT NOT NULL, -- index of the record, from 0
	subject  TEXT   NOT NULL, -- the recharge or verification that it became; empty when it was refused
	outcome  TEXT   NOT NULL CHECK (outcome IN ('begun', 'successful', 'failed')),
	refusal  BYTEA,           -- JSON of the error of a refused one
	PRIMARY KEY (batch_id, place)
);
