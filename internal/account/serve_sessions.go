package account

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/mux"
	"github.com/oklog/ulid/v2"

	"vayu/internal/api"
	"vayu/internal/page"
	"vayu/internal/state"
	"vayu/schema"
)

// sessionsPath is where sessions are.
const sessionsPath = "/v1/sessions"

// postSession answers POST /v1/sessions: a key is exchanged for a session. It happens
// anew however often it is asked for, since the token in its reply is kept nowhere.
func (s *Service) postSession(c *api.Call) (api.Response, error) {
	if _, err := api.Parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	if c.BySession {
		return api.Response{}, schema.Refuse(schema.Forbidden, "", "A session is made with an API key, not with another session.")
	}
	var cookie *http.Cookie
	// access: a key that is being revoked makes none that nobody ends.
	resp, err := s.change(c, change{access: true, anew: true, do: func(c *api.Call, tx *state.Tx, caller KeyRecord) (api.Response, Entry, error) {
		now := s.Now()
		token, hash := mintToken()
		one, ends, over, err := insertSession(tx, c, caller, hash, now)
		if err != nil {
			return api.Response{}, Entry{}, err
		}
		cookie = cookieOf(token, ends.Sub(now))
		detail := map[string]any{"expires_at": one.ExpiresAt, "agent": one.Agent}
		if len(over) > 0 {
			detail["ended"] = over
		}
		return api.Response{Status: http.StatusCreated, Value: schema.SessionShown{Status: schema.Success, Data: one}},
			Entry{Action: "session.create", Subject: one.ID, Detail: detail}, nil
	}})
	resp.Cookie = cookie
	return resp, err
}

// listSessions answers GET /v1/sessions: those of the asking key, the newest first.
func (s *Service) listSessions(c *api.Call) (api.Response, error) {
	params, err := api.Parameters(c.URL.RawQuery, "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	var f schema.Faults
	list := "sessions/" + c.Key
	limit, after := page.Limit(&f, params), page.After(&f, s.Box, c, list, params)
	if err := f.Problem(); err != nil {
		return api.Response{}, err
	}
	rows, err := state.All(s.DB.View(c.Context()), scanSession, "SELECT "+sessionColumns+` FROM session
		WHERE key_id = $1 AND expires_at > $2 AND ($3 = '' OR id < $3) ORDER BY id DESC LIMIT $4`,
		c.Key, s.Now().UnixMicro(), after, limit+1)
	if err != nil {
		return api.Response{}, fmt.Errorf("listing sessions: %w", err)
	}
	return page.Reply(rows, limit,
		func(r sessionRow) (schema.Session, error) { return r.wire(c.Session), nil },
		func(r sessionRow) *string { return page.Cursor(s.Box, c, list, r.id) })
}

// getCurrent answers GET /v1/sessions/current: whom the call speaks for.
func (s *Service) getCurrent(c *api.Call) (api.Response, error) {
	if _, err := api.Parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	view := s.DB.View(c.Context())
	key, err := keyByID(view, c.Key, s.Now())
	if err != nil {
		return api.Response{}, err
	}
	holder, err := accountByID(view, c.Account)
	if err != nil {
		return api.Response{}, err
	}
	who := schema.IdentityData{
		Account: schema.IdentityAccount{ID: holder.ID, Name: holder.Name, Plan: holder.Plan}, Mode: c.World.String(),
		Key: schema.IdentityKey{ID: key.ID, Name: key.Name, LastFour: key.LastFour, Scopes: key.Scopes},
	}
	if c.BySession {
		row, err := scanSession(view.QueryRow("SELECT "+sessionColumns+" FROM session WHERE id = $1", c.Session))
		if errors.Is(err, sql.ErrNoRows) { // ended in this moment
			return api.Response{}, errNoSession
		}
		if err != nil {
			return api.Response{}, fmt.Errorf("reading a session: %w", err)
		}
		one := row.wire(c.Session)
		who.Session = &one
	}
	return api.Response{Value: schema.Identity{Status: schema.Success, Data: who}}, nil
}

// deleteSession answers DELETE /v1/sessions/{id} and /v1/sessions/current.
func (s *Service) deleteSession(c *api.Call) (api.Response, error) {
	if _, err := api.Parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	id, named := mux.Vars(c.Request)["id"]
	if !named {
		id = c.Session
	}
	if !isSessionID(id) { // which PostgreSQL might not even take for a text
		return api.Response{}, errOtherSession
	}
	resp, err := s.change(c, change{do: func(c *api.Call, tx *state.Tx, _ KeyRecord) (api.Response, Entry, error) {
		row, err := scanSession(tx.QueryRow("DELETE FROM session WHERE id = $1 AND key_id = $2 RETURNING "+sessionColumns, id, c.Key))
		if errors.Is(err, sql.ErrNoRows) {
			return api.Response{}, Entry{}, errOtherSession
		}
		if err != nil {
			return api.Response{}, Entry{}, fmt.Errorf("ending a session: %w", err)
		}
		return api.Response{Value: schema.SessionShown{Status: schema.Success, Data: row.wire(c.Session)}},
			Entry{Action: "session.end", Subject: id}, nil
	}})
	if err == nil && id == c.Session {
		resp.Cookie = noCookie()
	}
	return resp, err
}

// deleteSessions answers DELETE /v1/sessions: everybody who is signed in with the key
// is signed out.
func (s *Service) deleteSessions(c *api.Call) (api.Response, error) {
	if _, err := api.Parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	resp, err := s.change(c, change{access: true, do: func(c *api.Call, tx *state.Tx, _ KeyRecord) (api.Response, Entry, error) {
		gone, err := state.All(tx, scanText, "DELETE FROM session WHERE key_id = $1 RETURNING id", c.Key)
		if err != nil {
			return api.Response{}, Entry{}, fmt.Errorf("ending all sessions: %w", err)
		}
		entry := Entry{}
		if len(gone) > 0 {
			entry = Entry{Action: "session.end", Subject: c.Key, Detail: map[string]any{"sessions": gone}}
		}
		return api.Response{Value: schema.SessionsEnded{Status: schema.Success, Ended: len(gone)}}, entry, nil
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
