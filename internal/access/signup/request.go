package signup

import (
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/access/member"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
	roles "vayu/schema/member"
	wire "vayu/schema/signup"
)

const (
	// linkLife is how long a confirmation link is valid.
	linkLife = 24 * time.Hour
	// pendingLife is the time after which an account is erased unless its address is confirmed.
	pendingLife = 7 * 24 * time.Hour
	// actor is the author of sign-ups in the audit log. Changes by API calls have the id of the calling key instead.
	actor = "signup"
)

// Errors of sign-ups. They do not reveal whether an account or a code exists.
var (
	errEmail  = schema.NewProblem(schema.InvalidRequest, "email", "The e-mail address is invalid. It has at most 254 ASCII characters, such as name@example.com.")
	errInvite = schema.NewProblem(schema.InvalidRequest, "invite", "The invite code is unknown, used or expired.")
	errLink   = schema.NewProblem(schema.InvalidRequest, "token", "The link is invalid or has expired. Sign up again.")
)

// post answers POST /v1/signup: it creates an account with a sandbox key, and schedules a mail with a confirmation
// link.
func (s *Service) post(c *httpapi.Call) (resp httpapi.Response, err error) {
	wanted, err := httpapi.Decode[struct {
		Email  string `json:"email"`
		Invite string `json:"invite"`
	}](c)
	if err != nil {
		return resp, err
	}
	if !wire.IsEmail(wanted.Email) {
		return resp, errEmail
	}
	now := s.Now()
	if s.Limited {
		if err := s.emails.Admit(strings.ToLower(wanted.Email), now); err != nil {
			return resp, err
		}
	}
	var made apikey.Created
	var holder account.Record
	ends := now.Add(pendingLife)
	err = s.DB.Update(c.Context(), func(tx *sqlstore.Tx) error {
		var entry audit.Entry
		holder, entry, err = account.Create(tx, s.Plans, "signup-"+strings.ToLower(ulid.MustNewDefault(now).String()), s.Plan, now)
		if err := appendAudit(tx, c, entry, now, err); err != nil {
			return err
		}
		spec := apikey.Spec{Account: holder.ID, World: schema.Sandbox, Name: "sign-up", ExpiresAt: ends}
		made, entry, err = apikey.Create(tx, s.Cipher, spec, now)
		if err := appendAudit(tx, c, entry, now, err); err != nil {
			return err
		}
		if s.Mode == invite {
			hash := sha256.Sum256([]byte(wanted.Invite))
			n, err := tx.Exec(`UPDATE signup_invite SET account_id = $1
				WHERE hash = $2 AND account_id IS NULL AND expires_at > $3 AND (email = '' OR email = lower($4))`,
				holder.ID, hash[:], now.UnixMicro(), wanted.Email)
			if err != nil {
				return fmt.Errorf("using an invite code: %w", err)
			}
			if n == 0 {
				return errInvite
			}
		}
		_, err := tx.Exec("INSERT INTO signup (account_id, email, created_at, mail_due_at, expires_at) VALUES ($1, $2, $3, $3, $4)",
			holder.ID, wanted.Email, now.UnixMicro(), ends.UnixMicro())
		if err != nil {
			return fmt.Errorf("storing a sign-up: %w", err)
		}
		return nil
	})
	if err != nil {
		return resp, err
	}
	s.count("requested")
	s.mails.Wake()
	return httpapi.Response{Status: http.StatusCreated, Value: wire.Made{
		Status: schema.Success, Account: holder.ID, Key: made.Key, ExpiresAt: schema.FormatTime(ends),
	}}, nil
}

// appendAudit appends the audit entry of a change, unless the change has failed with err.
func appendAudit(tx *sqlstore.Tx, c *httpapi.Call, e audit.Entry, now time.Time, err error) error {
	if err != nil {
		return err
	}
	who := c.Who()
	e.Actor, e.Request, e.Client = actor, who.Request, who.Client
	return audit.Append(tx, now, e)
}

// pending is a row of table signup.
type pending struct {
	account, email string
	created        int64
}

// token returns the token in the link of a sign-up: the account's id, and a MAC with the store's key.
func (s *Service) token(p pending) string {
	mac := s.Cipher.Digest("signup.link", []byte(p.account), []byte(p.email), fmt.Append(nil, p.created))
	return p.account + "." + base64.RawURLEncoding.EncodeToString(mac)
}

// confirm answers POST /v1/signup/confirm. The first call with a link creates the live key. If another account with the
// same address is already confirmed, this account stays unconfirmed, and is erased after pendingLife.
func (s *Service) confirm(c *httpapi.Call) (resp httpapi.Response, err error) {
	wanted, err := httpapi.Decode[struct {
		Token  string `json:"token"`
		Member bool   `json:"member"`
	}](c)
	if err != nil {
		return resp, err
	}
	id, _, _ := strings.Cut(wanted.Token, ".")
	if !schema.IsID(id) {
		return resp, errLink
	}
	now := s.Now()
	reply := wire.Confirmed{Status: schema.Success, Account: id}
	err = s.DB.Update(c.Context(), func(tx *sqlstore.Tx) error {
		if err := account.Lock(tx); err != nil { // otherwise concurrent calls could confirm two accounts of one address
			return err
		}
		p := pending{account: id}
		var confirmed sql.NullInt64
		err := tx.QueryRow("SELECT email, created_at, confirmed_at FROM signup WHERE account_id = $1", id).Scan(&p.email, &p.created, &confirmed)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return errLink
		case err != nil:
			return fmt.Errorf("reading a sign-up: %w", err)
		case !hmac.Equal([]byte(s.token(p)), []byte(wanted.Token)):
			return errLink
		case confirmed.Valid:
			reply.Outcome, reply.Key = "already_confirmed", ""
			return nil
		case !now.Before(time.UnixMicro(p.created).Add(linkLife)):
			return errLink
		}
		reply.Outcome, reply.Key, err = s.confirmed(tx, c, p, now)
		if err == nil && reply.Key != "" && wanted.Member {
			by := member.Author{Who: c.Who()}
			by.Key = actor
			_, err = member.Add(tx, s.Cipher, id, p.email, roles.Owner, by, now)
		}
		return err
	})
	if err != nil {
		return resp, err
	}
	if reply.Key != "" {
		s.count("confirmed")
	}
	return httpapi.Response{Value: reply}, nil
}

// confirmed confirms an account, unless another account with its address is confirmed. It also creates the live key,
// with keys:manage, so that its owner can create further keys without the operator. The sandbox key no longer expires.
func (s *Service) confirmed(tx *sqlstore.Tx, c *httpapi.Call, p pending, now time.Time) (outcome, key string, err error) {
	n, err := tx.Exec(`UPDATE signup SET confirmed_at = $2, expires_at = NULL, mail_due_at = NULL WHERE account_id = $1
		AND NOT EXISTS (SELECT 1 FROM signup o WHERE lower(o.email) = lower($3) AND o.confirmed_at IS NOT NULL)`, p.account, now.UnixMicro(), p.email)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("confirming a sign-up: %w", err)
	case n == 0:
		return "address_in_use", "", nil
	}
	if err := apikey.RemoveExpiry(tx, p.account); err != nil {
		return "", "", err
	}
	if err := appendAudit(tx, c, audit.Entry{Account: p.account, Action: "account.confirm", Subject: p.account}, now, nil); err != nil {
		return "", "", err
	}
	scopes := slices.DeleteFunc(slices.Clone(schema.Scopes), func(scope schema.Scope) bool { return scope == schema.SourcesRead })
	made, entry, err := apikey.Create(tx, s.Cipher, apikey.Spec{Account: p.account, World: schema.Live, Name: "sign-up", Scopes: scopes}, now)
	return "confirmed", made.Key, appendAudit(tx, c, entry, now, err)
}
