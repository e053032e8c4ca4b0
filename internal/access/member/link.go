package member

import (
	"context"
	"crypto/hmac"
	"database/sql"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/session"
	"vayu/internal/httpapi"
	"vayu/internal/mail"
	"vayu/internal/sqlstore"
	"vayu/schema"
	wire "vayu/schema/member"
	"vayu/schema/signup"
)

// linkLife is how long a requested link is valid.
const linkLife = 15 * time.Minute

// errLink is the error for a link that cannot be used. It does not reveal the reason.
var errLink = schema.NewProblem(schema.InvalidRequest, "token", "The link is invalid, used or expired. Request another one.")

//go:embed mail.txt
var text string

// request stores a request for a link, whose mail is due at once. If `member` is not empty, only the member with this
// id can use the link. The result `ends` is the time at which the link expires.
func request(tx *sqlstore.Tx, email, member string, life time.Duration, now time.Time) (ends time.Time, err error) {
	ends = now.Add(life)
	_, err = tx.Exec("INSERT INTO sign_in_link (id, email, member_id, created_at, expires_at, mail_due_at) VALUES ($1, $2, $3, $4, $5, $4)",
		"lnk_"+ulid.MustNewDefault(now).String(), email, member, now.UnixMicro(), ends.UnixMicro())
	if err != nil {
		return ends, fmt.Errorf("requesting a link: %w", err)
	}
	return ends, nil
}

// link is a row of table sign_in_link.
type link struct {
	id, email, member string
	created, expires  int64
	used              sql.NullInt64
}

const selectLink = "SELECT id, email, member_id, created_at, expires_at, used_at FROM sign_in_link "

func scanLink(row sqlstore.Scanner) (l link, err error) {
	err = row.Scan(&l.id, &l.email, &l.member, &l.created, &l.expires, &l.used)
	return l, err
}

// token returns the token in a link for one member: the ids of link and member, and a MAC with the store's key. A
// person can be a member of several accounts, so a mail can have several links. Using one of them invalidates all.
func (s *Service) token(l link, member string) string {
	mac := s.Cipher.Digest("sign-in.link", []byte(l.id), []byte(member), []byte(l.email), fmt.Append(nil, l.created))
	return l.id + "." + member + "." + base64.RawURLEncoding.EncodeToString(mac)
}

// postLink answers POST /v1/sign-in-links. It stores the request without searching for a member with the address. So
// neither the reply nor its time reveals whether there is such a member.
func (s *Service) postLink(c *httpapi.Call) (resp httpapi.Response, err error) {
	wanted, err := httpapi.Decode[struct {
		Email string `json:"email"`
	}](c)
	if err != nil {
		return resp, err
	}
	if !signup.IsEmail(wanted.Email) {
		return resp, errEmail
	}
	now := s.Now()
	if err := s.admitEmail(wanted.Email, now); err != nil {
		return resp, err
	}
	var ends time.Time
	err = s.DB.Update(c.Context(), func(tx *sqlstore.Tx) (err error) {
		ends, err = request(tx, wanted.Email, "", linkLife, now)
		return err
	})
	if err != nil {
		return resp, err
	}
	s.count("requested")
	s.mails.Wake()
	return httpapi.Response{Status: http.StatusAccepted, Value: wire.LinkSent{Status: schema.Success, ExpiresAt: schema.FormatTime(ends)}}, nil
}

// due returns the mails of the due requests. If no member has the address, the mail has no text and is not sent.
func (s *Service) due(view sqlstore.View, now time.Time, limit int) (all []mail.Message, err error) {
	links, err := sqlstore.All(view, scanLink, selectLink+"WHERE mail_due_at <= $1 AND expires_at > $1 ORDER BY mail_due_at LIMIT $2", now.UnixMicro(), limit)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		m := mail.Message{ID: l.id, To: l.email, Subject: "Vayu: sign in · साइन इन करें"}
		var lines strings.Builder
		err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
			var id, name string
			err := row.Scan(&id, &name)
			_, _ = fmt.Fprintf(&lines, "%s:\n%s/dashboard/sign-in#%s\n", name, s.BaseURL(), s.token(l, id))
			return err
		}, `SELECT m.id, a.name FROM member m JOIN account a ON a.id = m.account_id
			WHERE lower(m.email) = lower($1) AND ($2 = '' OR m.id = $2) ORDER BY a.name`, l.email, l.member)
		if err != nil {
			return nil, err
		}
		if lines.Len() > 0 {
			until := time.UnixMicro(l.expires).UTC().Format("2006-01-02 15:04 UTC")
			m.Text = strings.NewReplacer("LINKS", strings.TrimSpace(lines.String()), "UNTIL", until).Replace(text)
		}
		all = append(all, m)
	}
	return all, nil
}

// clean removes the requests that have expired, and the files of their mails.
func (s *Service) clean(ctx context.Context) error {
	var expired []string
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		expired, err = sqlstore.All(tx, sqlstore.Scalar[string], "DELETE FROM sign_in_link WHERE expires_at <= $1 RETURNING id", s.Now().UnixMicro())
		return err
	})
	for _, id := range expired {
		err = errors.Join(err, s.Mail.Remove(id))
	}
	return err
}

// confirm answers POST /v1/sign-in-links/confirm: it exchanges the token of a link for a session. A link works once.
func (s *Service) confirm(c *httpapi.Call) (resp httpapi.Response, err error) {
	wanted, err := httpapi.Decode[struct {
		Token string `json:"token"`
	}](c)
	if err != nil {
		return resp, err
	}
	id, rest, _ := strings.Cut(wanted.Token, ".")
	who, _, _ := strings.Cut(rest, ".")
	if !schema.IsID(id) || !schema.IsID(who) {
		return resp, errLink
	}
	now := s.Now()
	err = s.DB.Update(c.Context(), func(tx *sqlstore.Tx) error {
		if err := account.Lock(tx); err != nil { // the keys cannot change until the session exists
			return err
		}
		l, err := scanLink(tx.QueryRow(selectLink+"WHERE id = $1", id))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return errLink
		case err != nil:
			return fmt.Errorf("reading a link: %w", err)
		case !hmac.Equal([]byte(s.token(l, who)), []byte(wanted.Token)), l.used.Valid, now.UnixMicro() >= l.expires:
			return errLink
		}
		if _, err := tx.Expect(1, "UPDATE sign_in_link SET used_at = $2 WHERE id = $1", id, now.UnixMicro()); err != nil {
			return fmt.Errorf("using a link: %w", err)
		}
		resp, err = s.signIn(tx, c, who, now)
		return err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	s.count("signed_in")
	return resp, nil
}

// signIn creates a session of a member with the live key. The session can switch to the member's sandbox key.
func (s *Service) signIn(tx *sqlstore.Tx, c *httpapi.Call, id string, now time.Time) (resp httpapi.Response, err error) {
	keys, err := apikey.OfMember(tx, id, now)
	if err != nil {
		return resp, err
	}
	if len(keys) != len(schema.Worlds) { // the member was removed, or a key of the member was revoked or has expired
		return resp, errLink
	}
	holder, err := account.ByID(tx, keys[0].Account)
	if err != nil {
		return resp, err
	}
	client := c.Client.Unmap().WithZone("")
	from := []string{netip.PrefixFrom(client, client.BitLen()).String()}
	if !account.Within(from, holder.AllowList) || !account.Within(from, keys[0].AllowList) {
		return resp, schema.NewProblem(schema.IPNotAllowed, "", "The allow-list of the account does not contain the address "+client.String()+".")
	}
	resp, entry, err := session.Create(tx, c, keys[0], keys[1].ID, now)
	entry.Account, entry.World = holder.ID, schema.Live
	by := Author{Who: c.Who()}
	by.Key = keys[0].ID
	if err := by.appendAudit(tx, entry, err, now); err != nil {
		return resp, err
	}
	if _, err := tx.Exec("UPDATE member SET signed_in_at = $2 WHERE id = $1", id, now.UnixMicro()); err != nil {
		return resp, fmt.Errorf("recording a sign-in: %w", err)
	}
	return resp, nil
}
