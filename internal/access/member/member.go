// Package member manages the people of an account, who sign in with a link in a mail. A member has a role, and an API
// key in each mode (live and sandbox), whose text is discarded. The member's sessions have the rights of these keys.
package member

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
	wire "vayu/schema/member"
	"vayu/schema/signup"
)

const (
	// most is the maximum number of members of an account.
	most = 50
	// invitationLife is how long the link of a new member is valid. After that, the member must request another link.
	invitationLife = 24 * time.Hour
)

// Errors of members.
var (
	errEmail    = schema.NewProblem(schema.InvalidRequest, "email", "The e-mail address is invalid. It has at most 254 ASCII characters, such as name@example.com.")
	errRole     = schema.NewProblem(schema.InvalidRequest, "role", "The role must be owner, developer, finance or viewer.")
	errThere    = schema.NewProblem(schema.InvalidRequest, "email", "A member of the account has this e-mail address already.")
	errMost     = schema.NewProblem(schema.Conflict, "", fmt.Sprintf("The account has %d members, which is the limit. Remove one first.", most))
	errNotFound = schema.NewProblem(schema.NotFound, "", "There is no such member.")
	errSandbox  = schema.NewProblem(schema.Forbidden, "", "Members act in both modes. List and change them with a live key.")
)

// record is a row of table member.
type record struct {
	id, account, email, role string
	created                  int64
	signedIn                 sql.NullInt64
}

const selectMember = "SELECT id, account_id, email, role, created_at, signed_in_at FROM member "

func scan(row sqlstore.Scanner) (r record, err error) {
	err = row.Scan(&r.id, &r.account, &r.email, &r.role, &r.created, &r.signedIn)
	return r, err
}

// find returns the member of an account whose id or e-mail address is `which`, or errNotFound if there is none.
func find(q sqlstore.Querier, holder, which string) (record, error) {
	r, err := scan(q.QueryRow(selectMember+"WHERE account_id = $1 AND (id = $2 OR lower(email) = lower($2))", holder, which))
	if errors.Is(err, sql.ErrNoRows) {
		return r, errNotFound
	}
	if err != nil {
		return r, fmt.Errorf("reading a member: %w", err)
	}
	return r, nil
}

// wire returns a member in the form of the API.
func (r record) wire(q sqlstore.Querier) (m wire.Member, err error) {
	m = wire.Member{ID: r.id, Email: r.email, Role: r.role, CreatedAt: schema.FormatMicros(r.created)}
	if r.signedIn.Valid {
		at := schema.FormatMicros(r.signedIn.Int64)
		m.LastSignInAt = &at
	}
	err = sqlstore.Each(q, func(row sqlstore.Scanner) error {
		var id, mode string
		err := row.Scan(&id, &mode)
		if mode == schema.Sandbox.String() {
			m.KeyIDs.Sandbox = id
		} else {
			m.KeyIDs.Live = id
		}
		return err
	}, "SELECT id, mode FROM api_key WHERE member_id = $1", r.id)
	return m, err
}

// List returns the members of an account in the order of their creation.
func List(q sqlstore.Querier, holder string) ([]wire.Member, error) {
	rows, err := sqlstore.All(q, scan, selectMember+"WHERE account_id = $1 ORDER BY id", holder)
	if err != nil {
		return nil, fmt.Errorf("listing members: %w", err)
	}
	all := []wire.Member{}
	for _, r := range rows {
		m, err := r.wire(q)
		if err != nil {
			return nil, fmt.Errorf("reading the keys of a member: %w", err)
		}
		all = append(all, m)
	}
	return all, nil
}

// Author is the author of a change in the audit log. The author may grant only rights that the key `caller` has. The
// operator has no such key (caller is nil), and may grant everything.
type Author struct {
	httpapi.Who
	caller *apikey.Record
}

// Operator returns the operator as the author of a change. The operator may grant everything.
func Operator(name string) Author { return Author{Who: httpapi.Who{Key: name}} }

// appendAudit appends the audit entry of a change, unless the change has failed with err.
func (a Author) appendAudit(tx *sqlstore.Tx, e audit.Entry, err error, now time.Time) error {
	if err != nil {
		return err
	}
	e.Actor, e.Request, e.Client = a.Key, a.Request, a.Client
	return audit.Append(tx, now, e)
}

// Add adds a member with a role to the account with the id `holder`, and schedules a mail with a link. The error is a
// *schema.Problem if the address or the role is invalid, or if a member already has the address. The same applies if
// the account has too many members, or the author may not grant the role. Otherwise it is an error of the store.
func Add(tx *sqlstore.Tx, cipher *encryption.Cipher, holder, email, role string, by Author, now time.Time) (wire.Member, error) {
	if !signup.IsEmail(email) {
		return wire.Member{}, errEmail
	}
	grants, ok := wire.RoleOf(role)
	if !ok {
		return wire.Member{}, errRole
	}
	if err := account.Lock(tx); err != nil {
		return wire.Member{}, err
	}
	var all, same int
	err := tx.QueryRow("SELECT count(*), count(*) FILTER (WHERE lower(email) = lower($2)) FROM member WHERE account_id = $1", holder, email).Scan(&all, &same)
	switch {
	case err != nil:
		return wire.Member{}, fmt.Errorf("counting members: %w", err)
	case same > 0:
		return wire.Member{}, errThere
	case all >= most:
		return wire.Member{}, errMost
	}
	r := record{id: "mem_" + ulid.MustNewDefault(now).String(), account: holder, email: email, role: role, created: now.UnixMicro()}
	for _, w := range schema.Worlds {
		spec := apikey.Spec{Account: holder, World: w, Name: "member", Scopes: grants.Scopes(w), Member: r.id}
		if by.caller != nil {
			spec = by.caller.Inherited(spec, true)
		}
		made, entry, err := apikey.Create(tx, cipher, spec, now)
		if err = by.appendAudit(tx, entry, err, now); err == nil {
			err = by.mayGrant(tx, made.Record.ID, now)
		}
		if err != nil {
			return wire.Member{}, err
		}
	}
	if _, err := tx.Exec("INSERT INTO member (id, account_id, email, role, created_at) VALUES ($1, $2, $3, $4, $5)",
		r.id, holder, email, role, r.created); err != nil {
		return wire.Member{}, fmt.Errorf("adding a member: %w", err)
	}
	if _, err := request(tx, email, r.id, invitationLife, now); err != nil {
		return wire.Member{}, err
	}
	return by.changed(tx, r, "member.create", now)
}

// changed appends the audit entry of a change that the caller has already made, and returns the changed member. The
// entry has no e-mail address, because the audit log cannot be erased.
func (a Author) changed(tx *sqlstore.Tx, r record, action string, now time.Time) (wire.Member, error) {
	m, err := r.wire(tx)
	if err != nil {
		return m, fmt.Errorf("reading the keys of a member: %w", err)
	}
	return m, a.appendAudit(tx, audit.Entry{Account: r.account, Action: action, Subject: r.id, Detail: map[string]any{"role": r.role, "key_ids": m.KeyIDs}}, nil, now)
}

// mayGrant returns an error if the key with the id `key` can do more than the author's key.
func (a Author) mayGrant(tx *sqlstore.Tx, key string, now time.Time) error {
	if a.caller == nil {
		return nil
	}
	k, err := apikey.ByID(tx, key, now)
	if err == nil {
		err = a.caller.Covers(k)
	}
	return err
}

// Remove removes a member of the account `holder`. The parameter `which` is the member's id or e-mail address. Remove
// revokes the member's keys, which ends the member's sessions. The error is a *schema.Problem if there is no such
// member, or if the author may not revoke the keys.
func Remove(tx *sqlstore.Tx, holder, which string, by Author, now time.Time) (wire.Member, error) {
	r, err := find(tx, holder, which)
	if err != nil {
		return wire.Member{}, err
	}
	keys, err := apikey.OfMember(tx, r.id, now)
	if err != nil {
		return wire.Member{}, err
	}
	for _, k := range keys {
		if by.caller != nil {
			if err := by.caller.MayRevoke(k); err != nil {
				return wire.Member{}, err
			}
		}
		_, entry, err := apikey.Revoke(tx, k.ID, now)
		if err := by.appendAudit(tx, entry, err, now); err != nil {
			return wire.Member{}, err
		}
	}
	for _, statement := range []string{"DELETE FROM sign_in_link WHERE member_id = $1", "DELETE FROM member WHERE id = $1"} {
		if _, err := tx.Exec(statement, r.id); err != nil {
			return wire.Member{}, fmt.Errorf("removing a member: %w", err)
		}
	}
	return by.changed(tx, r, "member.delete", now)
}

// setRole changes the role of a member, and the scopes of the member's keys. The author must have a key.
func setRole(tx *sqlstore.Tx, holder, which, role string, by Author, now time.Time) (wire.Member, error) {
	grants, ok := wire.RoleOf(role)
	if !ok {
		return wire.Member{}, errRole
	}
	r, err := find(tx, holder, which)
	if err != nil {
		return wire.Member{}, err
	}
	keys, err := apikey.OfMember(tx, r.id, now)
	if err != nil {
		return wire.Member{}, err
	}
	for _, k := range keys {
		if err := by.caller.MayRevoke(k); err != nil { // the change may remove scopes, like a revocation
			return wire.Member{}, err
		}
		if err := apikey.SetScopes(tx, k.ID, grants.Scopes(k.World)); err != nil {
			return wire.Member{}, err
		}
		if err := by.mayGrant(tx, k.ID, now); err != nil {
			return wire.Member{}, err
		}
	}
	if _, err := tx.Exec("UPDATE member SET role = $2 WHERE id = $1", r.id, role); err != nil {
		return wire.Member{}, fmt.Errorf("changing the role of a member: %w", err)
	}
	r.role = role
	return by.changed(tx, r, "member.role", now)
}

// Personal returns the rows of this package's tables to delete when the personal data of an account is erased.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{Table: "sign_in_link", Key: []string{"id"}, From: "sign_in_link t JOIN member m ON lower(m.email) = lower(t.email) WHERE m.account_id = $1"},
		{Table: "member", Key: []string{"id"}, From: "member t WHERE t.account_id = $1"},
	}
}
