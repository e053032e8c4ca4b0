package session

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
	"vayu/schema/member"
)

// Path is the path of the endpoints.
const Path = "/v1/sessions"

// Endpoints answers the calls about sessions.
type Endpoints struct {
	DB  *sqlstore.DB
	Now func() time.Time
	// Change runs `do` in one transaction with its audit row. It does not store the reply for a repeated Idempotency-Key,
	// because the reply may contain a session token. It holds the lock that serializes changes of API keys, so that no key
	// can be revoked before the transaction ends.
	Change func(c *httpapi.Call, do Change) (httpapi.Response, error)
}

// Change is a change of sessions, inside tx. The parameter `caller` is the current row of the calling key.
type Change = func(c *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error)

// Routes returns the endpoints. Every key may use them.
func (e *Endpoints) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: http.MethodPost, Path: Path, Handler: e.post},
		{Method: http.MethodGet, Path: Path, Params: []string{"limit", "cursor"}, Handler: e.list},
		{Method: http.MethodDelete, Path: Path, Handler: e.deleteAll},
		{Method: http.MethodGet, Path: Path + "/current", Handler: e.getCurrent},
		{Method: http.MethodDelete, Path: Path + "/current", Handler: e.deleteOne},
		{Method: http.MethodPost, Path: Path + "/current/mode", Body: httpapi.SmallBody, Handler: e.switchMode},
		{Method: http.MethodDelete, Path: Path + "/{id}", Handler: e.deleteOne},
	}
}

// post answers POST /v1/sessions: it exchanges a key for a session. A repeated call creates another
// session, because the reply contains a token and is therefore not stored.
func (e *Endpoints) post(c *httpapi.Call) (httpapi.Response, error) {
	if c.BySession {
		return httpapi.Response{}, schema.NewProblem(schema.Forbidden, "", "Only an API key can create a session.")
	}
	// Change prevents concurrent changes of keys. Otherwise the session could outlive its key.
	return e.Change(c, func(c *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error) {
		return Create(tx, c, caller, "", e.Now())
	})
}

// list answers GET /v1/sessions: the sessions of the calling key, newest first.
func (e *Endpoints) list(c *httpapi.Call) (httpapi.Response, error) {
	var f schema.RequestErrors
	list := "sessions/" + c.Key
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, list, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := sqlstore.All(e.DB.View(c.Context()), scan, "SELECT "+columns+` FROM session
		WHERE `+ofKey+` AND expires_at > $2 AND ($3 = '' OR id < $3) ORDER BY id DESC LIMIT $4`,
		c.Key, e.Now().UnixMicro(), after, limit+1)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("listing sessions: %w", err)
	}
	return pagination.Reply(rows, limit,
		func(r session) (schema.Session, error) { return r.wire(c.Session), nil },
		func(r session) *string { return pagination.Cursor(c, list, r.id) })
}

// getCurrent answers GET /v1/sessions/current: the identity of the caller.
func (e *Endpoints) getCurrent(c *httpapi.Call) (httpapi.Response, error) {
	view := e.DB.View(c.Context())
	key, err := apikey.ByID(view, c.Key, e.Now())
	if err != nil {
		return httpapi.Response{}, err
	}
	holder, err := account.ByID(view, c.Account)
	if err != nil {
		return httpapi.Response{}, err
	}
	who := member.IdentityData{
		Account: member.IdentityAccount{ID: holder.ID, Name: holder.Name, Plan: holder.Plan}, Mode: c.World.String(),
		Key: member.IdentityKey{ID: key.ID, Name: key.Name, LastFour: key.LastFour, Scopes: key.Scopes},
	}
	if key.Member != "" {
		who.Member = &member.IdentityMember{ID: key.Member}
		err := view.QueryRow("SELECT email, role FROM member WHERE id = $1", key.Member).Scan(&who.Member.Email, &who.Member.Role)
		if errors.Is(err, sql.ErrNoRows) { // the member was removed since the call was admitted
			return httpapi.Response{}, ErrEnded
		}
		if err != nil {
			return httpapi.Response{}, fmt.Errorf("reading a member: %w", err)
		}
	}
	if c.BySession {
		row, err := scan(view.QueryRow("SELECT "+columns+" FROM session WHERE id = $1", c.Session))
		if errors.Is(err, sql.ErrNoRows) { // the session has ended since the call was admitted
			return httpapi.Response{}, ErrEnded
		}
		if err != nil {
			return httpapi.Response{}, fmt.Errorf("reading a session: %w", err)
		}
		one := row.wire(c.Session)
		who.Session = &one
	}
	return httpapi.Response{Value: member.Identity{Status: schema.Success, Data: who}}, nil
}

// deleteOne answers DELETE /v1/sessions/{id} and /v1/sessions/current.
func (e *Endpoints) deleteOne(c *httpapi.Call) (httpapi.Response, error) {
	id, named := mux.Vars(c.Request)["id"]
	if !named {
		id = c.Session
	}
	if !schema.IsID(id) { // PostgreSQL rejects some texts, such as one with a zero byte
		return httpapi.Response{}, errNotFound
	}
	resp, err := e.Change(c, func(c *httpapi.Call, tx *sqlstore.Tx, _ apikey.Record) (httpapi.Response, audit.Entry, error) {
		row, err := scan(tx.QueryRow("DELETE FROM session WHERE id = $2 AND "+ofKey+" RETURNING "+columns, c.Key, id))
		if errors.Is(err, sql.ErrNoRows) {
			return httpapi.Response{}, audit.Entry{}, errNotFound
		}
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, fmt.Errorf("ending a session: %w", err)
		}
		return httpapi.Response{Value: schema.SessionReply{Status: schema.Success, Data: row.wire(c.Session)}},
			audit.Entry{Action: "session.end", Subject: id}, nil
	})
	if err == nil && id == c.Session {
		resp.Cookie = noCookie()
	}
	return resp, err
}

// deleteAll answers DELETE /v1/sessions: it ends all sessions of the calling key.
func (e *Endpoints) deleteAll(c *httpapi.Call) (httpapi.Response, error) {
	resp, err := e.Change(c, func(c *httpapi.Call, tx *sqlstore.Tx, _ apikey.Record) (httpapi.Response, audit.Entry, error) {
		gone, err := sqlstore.All(tx, sqlstore.Scalar[string], "DELETE FROM session WHERE "+ofKey+" RETURNING id", c.Key)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, fmt.Errorf("ending all sessions: %w", err)
		}
		entry := audit.Entry{}
		if len(gone) > 0 {
			entry = audit.Entry{Action: "session.end", Subject: c.Key, Detail: map[string]any{"sessions": gone}}
		}
		return httpapi.Response{Value: schema.SessionsEnded{Status: schema.Success, Ended: len(gone)}}, entry, nil
	})
	if err == nil && c.BySession {
		resp.Cookie = noCookie()
	}
	return resp, err
}
