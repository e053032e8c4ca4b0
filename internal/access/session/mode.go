package session

import (
	"database/sql"
	"errors"
	"fmt"
	"net/netip"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Errors of calls that switch the mode.
var (
	errFixed    = schema.NewProblem(schema.Forbidden, "", "Only a session can switch its mode. The mode of an API key is fixed.")
	errMode     = schema.NewProblem(schema.InvalidRequest, "mode", "The mode must be live or sandbox.")
	errOtherKey = schema.NewProblem(schema.InvalidRequest, "key",
		"Send a key of the other mode. It must be an active key of the same account that is allowed from this address and requires no signatures.")
)

// switchMode answers POST /v1/sessions/current/mode: it exchanges the key of the session for the key of the other mode.
// The session stores both keys, so the client needs to send a key with the first switch only.
func (e *Endpoints) switchMode(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := httpapi.Decode[struct {
		Mode string `json:"mode"`
		Key  string `json:"key"`
	}](c)
	switch {
	case err != nil:
		return httpapi.Response{}, err
	case !c.BySession:
		return httpapi.Response{}, errFixed
	case wanted.Mode != schema.Live.String() && wanted.Mode != schema.Sandbox.String():
		return httpapi.Response{}, errMode
	}
	return e.Change(c, func(c *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error) {
		row, err := scan(tx.QueryRow("SELECT "+columns+" FROM session WHERE id = $1", c.Session))
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, fmt.Errorf("reading a session: %w", err)
		}
		if wanted.Mode == c.World.String() || row.key != caller.ID { // another tab may have switched this session meanwhile
			return httpapi.Response{Value: schema.SessionReply{Status: schema.Success, Data: row.wire(c.Session)}}, audit.Entry{}, nil
		}
		next, err := e.otherKey(tx, c, caller, row.other.String, wanted.Key)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		row.key, row.other = next.ID, sql.NullString{String: caller.ID, Valid: true}
		if _, err := tx.Expect(1, "UPDATE session SET key_id = $2, other_key_id = $3 WHERE id = $1", c.Session, row.key, caller.ID); err != nil {
			return httpapi.Response{}, audit.Entry{}, fmt.Errorf("switching the mode of a session: %w", err)
		}
		return httpapi.Response{Value: schema.SessionReply{Status: schema.Success, Data: row.wire(c.Session)}},
			audit.Entry{Action: "session.mode", Subject: c.Session, Detail: map[string]any{"mode": wanted.Mode, "key_id": next.ID}}, nil
	})
}

// otherKey returns the key to switch to: the key in the request, or else the session's key of the other mode, `id`.
func (e *Endpoints) otherKey(tx *sqlstore.Tx, c *httpapi.Call, caller apikey.Record, id, key string) (apikey.Record, error) {
	if key != "" {
		hash := apikey.Hash(key)
		id = "" // an unknown key is an error, even if the session has another key
		err := tx.QueryRow("SELECT id FROM api_key WHERE hash = $1", hash[:]).Scan(&id)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return apikey.Record{}, fmt.Errorf("reading a key: %w", err)
		}
	}
	next, err := apikey.ByID(tx, id, e.Now())
	if errors.Is(err, apikey.ErrNotFound) {
		return next, errOtherKey
	}
	client := c.Client.Unmap().WithZone("")
	from := []string{netip.PrefixFrom(client, client.BitLen()).String()}
	if err == nil && (!next.Active || next.Account != caller.Account || next.World == caller.World || next.Member != caller.Member ||
		key != "" && next.RequireSignature || !account.Within(from, next.AllowList)) {
		err = errOtherKey
	}
	return next, err
}
