package access

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/mux"
	"github.com/oklog/ulid/v2"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const sessionsPath = "/v1/sessions"

// postSession answers POST /v1/sessions: it exchanges a key for a session. It is not idempotent,
// because the token in its reply is not stored.
func (s *Service) postSession(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return httpapi.Response{}, err
	}
	if c.BySession {
		return httpapi.Response{}, schema.NewProblem(schema.Forbidden, "", "A session is made with an API key, not with another session.")
	}
	var cookie *http.Cookie
	// With access, the key cannot be revoked meanwhile. Otherwise the session could outlive its key.
	resp, err := s.change(c, change{access: true, notStored: true, do: func(c *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error) {
		now := s.Now()
		token, hash := mintToken()
		one, ends, over, err := insertSession(tx, c, caller, hash, now)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		cookie = cookieOf(token, ends.Sub(now))
		detail := map[string]any{"expires_at": one.ExpiresAt, "agent": one.Agent}
		if len(over) > 0 {
			detail["ended"] = over
		}
		return httpapi.Response{Status: http.StatusCreated, Value: schema.SessionReply{Status: schema.Success, Data: one}},
			audit.Entry{Action: "session.create", Subject: one.ID, Detail: detail}, nil
	}})
	resp.Cookie = cookie
	return resp, err
}

// listSessions answers GET /v1/sessions: the sessions of the calling key, newest first.
func (s *Service) listSessions(c *httpapi.Call) (httpapi.Response, error) {
	params, err := httpapi.Parameters(c.URL.RawQuery, "limit", "cursor")
	if err != nil {
		return httpapi.Response{}, err
	}
	var f schema.RequestErrors
	list := "sessions/" + c.Key
	limit, after := pagination.Limit(&f, params), pagination.ReadCursor(&f, c, list, params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := sqlstore.All(s.DB.View(c.Context()), scanSession, "SELECT "+sessionColumns+` FROM session
		WHERE key_id = $1 AND expires_at > $2 AND ($3 = '' OR id < $3) ORDER BY id DESC LIMIT $4`,
		c.Key, s.Now().UnixMicro(), after, limit+1)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("listing sessions: %w", err)
	}
	return pagination.Reply(rows, limit,
		func(r sessionRow) (schema.Session, error) { return r.wire(c.Session), nil },
		func(r sessionRow) *string { return pagination.Cursor(c, list, r.id) })
}

// getCurrent answers GET /v1/sessions/current: the identity of the caller.
func (s *Service) getCurrent(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return httpapi.Response{}, err
	}
	view := s.DB.View(c.Context())
	key, err := apikey.ByID(view, c.Key, s.Now())
	if err != nil {
		return httpapi.Response{}, err
	}
	holder, err := account.ByID(view, c.Account)
	if err != nil {
		return httpapi.Response{}, err
	}
	who := schema.IdentityData{
		Account: schema.IdentityAccount{ID: holder.ID, Name: holder.Name, Plan: holder.Plan}, Mode: c.World.String(),
		Key: schema.IdentityKey{ID: key.ID, Name: key.Name, LastFour: key.LastFour, Scopes: key.Scopes},
	}
	if c.BySession {
		row, err := scanSession(view.QueryRow("SELECT "+sessionColumns+" FROM session WHERE id = $1", c.Session))
		if errors.Is(err, sql.ErrNoRows) { // the session has ended since its admission
			return httpapi.Response{}, errNoSession
		}
		if err != nil {
			return httpapi.Response{}, fmt.Errorf("reading a session: %w", err)
		}
		one := row.wire(c.Session)
		who.Session = &one
	}
	return httpapi.Response{Value: schema.Identity{Status: schema.Success, Data: who}}, nil
}

// deleteSession answers DELETE /v1/sessions/{id} and /v1/sessions/current.
func (s *Service) deleteSession(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return httpapi.Response{}, err
	}
	id, named := mux.Vars(c.Request)["id"]
	if !named {
		id = c.Session
	}
	if !isSessionID(id) { //  PostgreSQL rejects some texts, such as one with a zero byte
		return httpapi.Response{}, errOtherSession
	}
	resp, err := s.change(c, change{do: func(c *httpapi.Call, tx *sqlstore.Tx, _ apikey.Record) (httpapi.Response, audit.Entry, error) {
		row, err := scanSession(tx.QueryRow("DELETE FROM session WHERE id = $1 AND key_id = $2 RETURNING "+sessionColumns, id, c.Key))
		if errors.Is(err, sql.ErrNoRows) {
			return httpapi.Response{}, audit.Entry{}, errOtherSession
		}
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, fmt.Errorf("ending a session: %w", err)
		}
		return httpapi.Response{Value: schema.SessionReply{Status: schema.Success, Data: row.wire(c.Session)}},
			audit.Entry{Action: "session.end", Subject: id}, nil
	}})
	if err == nil && id == c.Session {
		resp.Cookie = noCookie()
	}
	return resp, err
}

// deleteSessions answers DELETE /v1/sessions: it ends all sessions of the key.
func (s *Service) deleteSessions(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return httpapi.Response{}, err
	}
	resp, err := s.change(c, change{access: true, do: func(c *httpapi.Call, tx *sqlstore.Tx, _ apikey.Record) (httpapi.Response, audit.Entry, error) {
		gone, err := sqlstore.All(tx, scanText, "DELETE FROM session WHERE key_id = $1 RETURNING id", c.Key)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, fmt.Errorf("ending all sessions: %w", err)
		}
		entry := audit.Entry{}
		if len(gone) > 0 {
			entry = audit.Entry{Action: "session.end", Subject: c.Key, Detail: map[string]any{"sessions": gone}}
		}
		return httpapi.Response{Value: schema.SessionsEnded{Status: schema.Success, Ended: len(gone)}}, entry, nil
	}})
	if err == nil && c.BySession {
		resp.Cookie = noCookie()
	}
	return resp, err
}

// isSessionID reports whether a text has the form of a session's id.
func isSessionID(text string) bool {
	rest, ok := strings.CutPrefix(text, sessionIDPrefix)
	_, err := ulid.ParseStrict(rest)
	return ok && err == nil
}
