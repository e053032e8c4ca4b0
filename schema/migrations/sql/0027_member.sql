-- +goose Up

-- One text for SQLite and PostgreSQL, as in the first file. Times are microseconds since 1970 UTC.

-- Members: people of an account who sign in with a link in a mail. The one writer is internal/access/member.
CREATE TABLE member (
	id           TEXT   NOT NULL PRIMARY KEY, -- mem_ + ULID
	account_id   TEXT   NOT NULL REFERENCES account (id),
	email        TEXT   NOT NULL,
	role         TEXT   NOT NULL,
	created_at   BIGINT NOT NULL,
	signed_in_at BIGINT -- of the last sign-in; NULL before the first one
);
CREATE UNIQUE INDEX member_email ON member (lower(email), account_id);
CREATE INDEX member_account ON member (account_id, id);

-- Requests for a link. The address of a request need not be that of a member. The one writer is internal/access/member.
CREATE TABLE sign_in_link (
	id          TEXT   NOT NULL PRIMARY KEY, -- lnk_ + ULID
	email       TEXT   NOT NULL,
	member_id   TEXT   NOT NULL, -- the only member who can use the link; empty for every member with the address
	created_at  BIGINT NOT NULL,
	expires_at  BIGINT NOT NULL,
	mail_due_at BIGINT, -- when the next attempt to send the mail is due; NULL if it was sent
	used_at     BIGINT
);
CREATE INDEX sign_in_link_mail ON sign_in_link (mail_due_at) WHERE mail_due_at IS NOT NULL;
CREATE INDEX sign_in_link_expires ON sign_in_link (expires_at);

-- The member whose sessions have the rights of the key. A member has a key in each mode. Its secret is discarded.
ALTER TABLE api_key ADD COLUMN member_id TEXT;
CREATE INDEX api_key_member ON api_key (member_id) WHERE member_id IS NOT NULL;

-- The key to which the session switches with its mode; NULL for none.
ALTER TABLE session ADD COLUMN other_key_id TEXT REFERENCES api_key (id);
CREATE INDEX session_other_key ON session (other_key_id) WHERE other_key_id IS NOT NULL;
