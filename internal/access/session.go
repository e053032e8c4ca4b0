package access

import (
	"context"
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

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// sessionLife is a working day: who comes back in the morning signs in again, and
	// a machine that was left open overnight lets nobody in.
	sessionLife = 8 * time.Hour
	// sessionsMost of one key: a team that shares a key has room, each with several
	// browsers, and a program that signs in for each call fills no table.
	sessionsMost = 100
	// agentLongest is as long as what browsers call themselves usually is, twice.
	agentLongest = 250

	sessionIDPrefix = "ses_"
	sessionCookie   = "vayu_session"
	sessionToken    = 32 // random bytes
)

// Refusals of sessions. One answer for all that is no session, so that it gives
// nothing away.
var (
	errNoSession    = schema.Refuse(schema.Unauthorized, "", "You are not signed in, or your session has ended: sign in with an API key.")
	errSessionToo   = schema.Refuse(schema.InvalidRequest, "Authorization", "A call with a session has no Authorization header; with an API key ask below /v1.")
	errOtherSession = schema.Refuse(schema.NotFound, "", "There is no such session of this key.")
)

// sessionHash is the SHA-256 of a session's token, by which it is known.
type sessionHash [sha256.Size]byte

// mintToken makes the token of a session, as the cookie has it.
func mintToken() (string, sessionHash) {
	var raw [sessionToken]byte
	_, _ = rand.Read(raw[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(raw[:]), sha256.Sum256(raw[:])
}

// parseToken reads a token; false when it cannot be one.
func parseToken(text string) (sessionHash, bool) {
	var raw [sessionToken]byte
	if len(text) != base64.RawURLEncoding.EncodedLen(sessionToken) || strings.ContainsAny(text, "\r\n") {
		return sessionHash{}, false
	}
	n, err := base64.RawURLEncoding.Strict().Decode(raw[:], []byte(text))
	if err != nil || n != sessionToken {
		return sessionHash{}, false
	}
	return sha256.Sum256(raw[:]), true
}

// keyOfSession finds the key for which a browser asks. A store that does not answer
// is told as such: nobody is signed out because of it.
func (s *Service) keyOfSession(c *httpapi.Call, now time.Time) (*grant, error) {
	if len(c.Header["Authorization"]) > 0 {
		return nil, errSessionToo
	}
	cookies := c.CookiesNamed(sessionCookie)
	if len(cookies) != 1 { // of two, one was put there by somebody else
		return nil, errNoSession
	}
	hash, ok := parseToken(cookies[0].Value)
	if !ok {
		return nil, errNoSession
	}
	limit, done := context.WithTimeout(c.Context(), lookMost)
	defer done()
	var id, key string
	err := s.DB.View(limit).QueryRow("SELECT id, key_id FROM session WHERE hash = $1 AND expires_at > $2",
		hash[:], now.UnixMicro()).Scan(&id, &key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errNoSession
	case err != nil:
		return nil, schema.Unavailable("Sessions cannot be looked up at the moment; please try again.", fmt.Errorf("looking for a session: %w", err))
	}
	g := s.book.byID(key)
	if g == nil { // of a key that another instance has made a moment ago
		if err := s.Refresh(limit); err != nil {
			return nil, schema.Unavailable("Keys cannot be looked up at the moment; please try again.", err)
		}
		if g = s.book.byID(key); g == nil {
			if g, err = s.seekEnded(limit, selectEndedByID, key); err != nil {
				return nil, schema.Unavailable("Keys cannot be looked up at the moment; please try again.", err)
			}
		}
	}
	if g == nil {
		return nil, errNoSession
	}
	c.Session = id
	return g, nil
}

// stillSignedIn demands that the session of a call has not ended since it came.
func stillSignedIn(tx *sqlstore.Tx, c *httpapi.Call, now time.Time) error {
	var id string
	err := tx.QueryRow("SELECT id FROM session WHERE id = $1 AND expires_at > $2", c.Session, now.UnixMicro()).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return errNoSession
	}
	if err != nil {
		return fmt.Errorf("looking for a session: %w", err)
	}
	return nil
}

// insertSession makes a session of a key, and ends the oldest when there are too
// many.
func insertSession(tx *sqlstore.Tx, c *httpapi.Call, key KeyRecord, hash sessionHash, now time.Time) (one schema.Session, ends time.Time, over []string, err error) {
	ends = now.Add(sessionLife)
	if !key.expiresAt.IsZero() && key.expiresAt.Before(ends) {
		ends = key.expiresAt
	}
	row := sessionRow{
		id: sessionIDPrefix + ulid.MustNewDefault(now).String(), key: key.ID, client: c.Who().Client, agent: agentOf(c.Request),
		created: now.UnixMicro(), expires: ends.UnixMicro(),
	}
	if _, err = tx.Exec(`INSERT INTO session (id, hash, key_id, client, agent, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		row.id, hash[:], row.key, row.client, row.agent, row.created, row.expires); err != nil {
		return one, ends, nil, fmt.Errorf("making a session: %w", err)
	}
	over, err = sqlstore.All(tx, scanText, `DELETE FROM session WHERE key_id = $1 AND id NOT IN
		(SELECT id FROM session WHERE key_id = $1 ORDER BY id DESC LIMIT $2) RETURNING id`, key.ID, sessionsMost)
	if err != nil {
		return one, ends, nil, fmt.Errorf("ending the oldest sessions: %w", err)
	}
	return row.wire(row.id), ends, over, nil
}

func scanText(row sqlstore.Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// sessionRow is a row of session, without its hash.
type sessionRow struct {
	id, key, client, agent string
	created, expires       int64
}

const sessionColumns = "id, key_id, client, agent, created_at, expires_at"

func scanSession(row sqlstore.Scanner) (r sessionRow, err error) {
	err = row.Scan(&r.id, &r.key, &r.client, &r.agent, &r.created, &r.expires)
	return r, err
}

// wire is a session as clients read it; current is the id of the one that asks.
func (r sessionRow) wire(current string) schema.Session {
	at := func(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339) }
	return schema.Session{
		ID: r.id, KeyID: r.key, CreatedAt: at(r.created), ExpiresAt: at(r.expires),
		Client: r.client, Agent: r.agent, Current: r.id == current,
	}
}

// keyWhole is a key, or what looks like much of one, to its end.
var keyWhole = regexp.MustCompile(keyText.String() + `[0-9A-Za-z]*`)

// agentOf is what a browser calls itself, fit to be kept and shown.
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

// cookieOf gives a browser its token for as long as the session lives; it is sent
// below the dashboard only, by pages of this site only, and no script reads it.
func cookieOf(token string, life time.Duration) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // the router adds Secure where there is TLS
		Name: sessionCookie, Value: token, Path: httpapi.SessionPrefix, MaxAge: max(1, int(life/time.Second)),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// noCookie makes a browser forget its token.
func noCookie() *http.Cookie {
	c := cookieOf("", 0) //nolint:gosec // as above
	c.MaxAge = -1
	return c
}
