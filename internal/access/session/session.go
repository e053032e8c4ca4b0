// Package session signs browsers in. A browser exchanges an API key for a session, which has the rights of the key.
package session

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// life is the lifetime of a session: one working day. A session ends earlier if its key expires earlier.
	life = 8 * time.Hour
	// mostPerKey is the limit of sessions per key. It suffices for a team that shares a key, with several browsers
	// each. The limit keeps a program that signs in for each call from filling the table.
	mostPerKey = 100
	// agentLongest limits a stored User-Agent, in characters, to twice the usual length.
	agentLongest = 250

	idPrefix   = "ses_"
	cookieName = "vayu_session"
	tokenBytes = 32 // random bytes
)

// Errors of sessions. All invalid sessions cause ErrEnded, which does not reveal what is wrong.
var (
	// ErrEnded is the error of a call whose session is absent, invalid or over.
	ErrEnded         = schema.NewProblem(schema.Unauthorized, "", "The session is missing or has ended. Sign in again.")
	errAuthorization = schema.NewProblem(schema.InvalidRequest, "Authorization", "A call with a session must not have an Authorization header. Use API keys with paths below /v1.")
	errNotFound      = schema.NewProblem(schema.NotFound, "", "The key has no such session.")
)

// tokenHash is the SHA-256 of a session's token (the secret in the browser's cookie). The store has only the hash,
// and finds a session by it.
type tokenHash [sha256.Size]byte

// mintToken returns a new random token, in the form of the cookie's value, and the hash of the token.
func mintToken() (string, tokenHash) {
	var raw [tokenBytes]byte
	_, _ = rand.Read(raw[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(raw[:]), sha256.Sum256(raw[:])
}

// parseToken returns the hash of a token, and false if the token is malformed.
func parseToken(text string) (tokenHash, bool) {
	var raw [tokenBytes]byte
	if len(text) != base64.RawURLEncoding.EncodedLen(tokenBytes) || strings.ContainsAny(text, "\r\n") {
		return tokenHash{}, false
	}
	n, err := base64.RawURLEncoding.Strict().Decode(raw[:], []byte(text))
	if err != nil || n != tokenBytes {
		return tokenHash{}, false
	}
	return sha256.Sum256(raw[:]), true
}

// Find returns the id of the session in the cookie of a call, and the id of the session's API key. If the store fails,
// the error has the code service_unavailable, so that the dashboard does not sign the user out.
func Find(view sqlstore.View, c *httpapi.Call, now time.Time) (id, key string, err error) {
	if len(c.Header["Authorization"]) > 0 {
		return "", "", errAuthorization
	}
	cookies := c.CookiesNamed(cookieName)
	if len(cookies) != 1 { // if there are two, one may be an attacker's
		return "", "", ErrEnded
	}
	hash, ok := parseToken(cookies[0].Value)
	if !ok {
		return "", "", ErrEnded
	}
	err = view.QueryRow("SELECT id, key_id FROM session WHERE hash = $1 AND expires_at > $2", hash[:], now.UnixMicro()).Scan(&id, &key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", "", ErrEnded
	case err != nil:
		return "", "", schema.Unavailable("Sessions cannot be checked at the moment. Retry later.", fmt.Errorf("reading a session: %w", err))
	}
	return id, key, nil
}

// Check returns [ErrEnded] if the session of a call has ended since the call was admitted.
func Check(tx *sqlstore.Tx, c *httpapi.Call, now time.Time) error {
	var id string
	err := tx.QueryRow("SELECT id FROM session WHERE id = $1 AND expires_at > $2", c.Session, now.UnixMicro()).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrEnded
	}
	if err != nil {
		return fmt.Errorf("reading a session: %w", err)
	}
	return nil
}

var selectActive = sqlstore.NewBatchStatement(1, "SELECT id FROM session WHERE expires_at > $1 AND id IN (", "?", ")")

// Ended reports, for each call of a browser session, whether that session has ended. One query reads several sessions.
func Ended(view sqlstore.View, calls []*httpapi.Call, now time.Time) ([]bool, error) {
	active := map[string]bool{}
	err := selectActive.Each(len(calls), func(text string, from, to int) error {
		args := []any{now.UnixMicro()}
		for _, c := range calls[from:to] {
			args = append(args, c.Session)
		}
		return sqlstore.Each(view, func(row sqlstore.Scanner) error {
			id, err := sqlstore.Scalar[string](row)
			active[id] = true
			return err
		}, text, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("reading sessions: %w", err)
	}
	ended := make([]bool, len(calls))
	for i, c := range calls {
		ended[i] = !active[c.Session]
	}
	return ended, nil
}

// insert creates a session of a key, and returns the session and its end. If the key then has more than mostPerKey
// sessions, insert deletes the oldest ones. The result `over` has the ids of the deleted sessions.
func insert(tx *sqlstore.Tx, c *httpapi.Call, key apikey.Record, other string, hash tokenHash, now time.Time) (one schema.Session, ends time.Time, over []string, err error) {
	ends = now.Add(life)
	if !key.Expiry.IsZero() && key.Expiry.Before(ends) {
		ends = key.Expiry
	}
	row := session{
		id: idPrefix + ulid.MustNewDefault(now).String(), key: key.ID, client: c.Who().Client, agent: agentOf(c.Request),
		created: now.UnixMicro(), expires: ends.UnixMicro(), other: sql.NullString{String: other, Valid: other != ""},
	}
	if _, err = tx.Exec(`INSERT INTO session (id, hash, key_id, client, agent, created_at, expires_at, other_key_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		row.id, hash[:], row.key, row.client, row.agent, row.created, row.expires, row.other); err != nil {
		return one, ends, nil, fmt.Errorf("creating a session: %w", err)
	}
	over, err = sqlstore.All(tx, sqlstore.Scalar[string], `DELETE FROM session WHERE `+ofKey+` AND id NOT IN
		(SELECT id FROM session WHERE `+ofKey+` ORDER BY id DESC LIMIT $2) RETURNING id`, key.ID, mostPerKey)
	if err != nil {
		return one, ends, nil, fmt.Errorf("ending the oldest sessions: %w", err)
	}
	return row.wire(row.id), ends, over, nil
}

// Create creates a session of a key, and returns the reply with its cookie. The session can switch to the key with the
// id `other`, which is a key of the other mode. If `other` is empty, there is no such key.
func Create(tx *sqlstore.Tx, c *httpapi.Call, key apikey.Record, other string, now time.Time) (httpapi.Response, audit.Entry, error) {
	token, hash := mintToken()
	one, ends, over, err := insert(tx, c, key, other, hash, now)
	if err != nil {
		return httpapi.Response{}, audit.Entry{}, err
	}
	detail := map[string]any{"expires_at": one.ExpiresAt, "agent": one.Agent}
	if len(over) > 0 {
		detail["ended"] = over
	}
	return httpapi.Response{
		Status: http.StatusCreated, Value: schema.SessionReply{Status: schema.Success, Data: one}, Cookie: cookieOf(token, ends.Sub(now)),
	}, audit.Entry{Action: "session.create", Subject: one.ID, Detail: detail}, nil
}

// session is a row of table session, without its hash.
type session struct {
	id, key, client, agent string
	created, expires       int64
	other                  sql.NullString // id of the key of the other mode
}

const (
	columns = "id, key_id, client, agent, created_at, expires_at, other_key_id"
	// ofKey is the condition for the sessions of key $1. It includes sessions that have switched to the other mode.
	ofKey = "(key_id = $1 OR other_key_id = $1)"
)

func scan(row sqlstore.Scanner) (r session, err error) {
	err = row.Scan(&r.id, &r.key, &r.client, &r.agent, &r.created, &r.expires, &r.other)
	return r, err
}

// wire returns the session in the API's form. The parameter `current` is the id of the calling session.
func (r session) wire(current string) schema.Session {
	one := schema.Session{
		ID: r.id, KeyID: r.key, CreatedAt: schema.FormatMicros(r.created), ExpiresAt: schema.FormatMicros(r.expires),
		Client: r.client, Agent: r.agent, Current: r.id == current,
	}
	if r.other.Valid {
		one.OtherKeyID = &r.other.String
	}
	return one
}

// keyWhole matches an API key or the beginning of one, and all letters and digits that follow.
var keyWhole = regexp.MustCompile(apikey.Pattern.String() + `[0-9A-Za-z]*`)

// agentOf returns the User-Agent, safe to store and display: printable, limited in length and with API keys masked.
func agentOf(r *http.Request) string {
	name := strings.ToValidUTF8(r.UserAgent(), "?")
	name = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, name)
	name = keyWhole.ReplaceAllString(name, "sk_${1}_***")
	if utf8.RuneCountInString(name) > agentLongest {
		return string([]rune(name)[:agentLongest])
	}
	return name
}

// cookieOf returns the cookie of a session token. Browsers send the cookie only from pages of this site, and
// only to paths below [httpapi.SessionPrefix]. Scripts cannot read it.
func cookieOf(token string, life time.Duration) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // the router adds Secure where there is TLS
		Name: cookieName, Value: token, Path: httpapi.SessionPrefix, MaxAge: max(1, int(life/time.Second)),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// noCookie returns a cookie that makes the browser delete the session's cookie.
func noCookie() *http.Cookie {
	c := cookieOf("", 0) //nolint:gosec // as above
	c.MaxAge = -1
	return c
}
