-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are microseconds since 1970 UTC.
-- The one writer of these tables is internal/access/signup.

-- Accounts that people have made themselves, with their e-mail address. Several rows can have the same address, but
-- only one of them can be confirmed.
CREATE TABLE signup (
	account_id   TEXT   NOT NULL PRIMARY KEY REFERENCES account (id),
	email        TEXT   NOT NULL,
	created_at   BIGINT NOT NULL,
	mail_due_at  BIGINT, -- when the next attempt to send the link is due; NULL if it was sent
	expires_at   BIGINT, -- when the account is erased; NULL if the address is confirmed
	confirmed_at BIGINT
);
CREATE UNIQUE INDEX signup_confirmed ON signup (lower(email)) WHERE confirmed_at IS NOT NULL;
CREATE INDEX signup_mail ON signup (mail_due_at) WHERE mail_due_at IS NOT NULL;
CREATE INDEX signup_expires ON signup (expires_at) WHERE expires_at IS NOT NULL;

-- Invite codes. A code is for one sign-up.
CREATE TABLE signup_invite (
	hash       BYTEA  NOT NULL PRIMARY KEY, -- SHA-256 of the code
	email      TEXT   NOT NULL, -- the only address that can use the code; empty for every one
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	account_id TEXT   REFERENCES account (id) -- the account that was made with it; NULL if it is unused
);
CREATE INDEX signup_invite_expires ON signup_invite (expires_at);
