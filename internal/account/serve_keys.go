package account

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/api"
	"vayu/internal/state"
	"vayu/schema"
)

// keyWanted is the body of POST /v1/keys.
type keyWanted struct {
	Name             string         `json:"name"`
	Scopes           []schema.Scope `json:"scopes"`
	AllowList        []string       `json:"allow_list"`
	RequireSignature bool           `json:"require_signature"`
	ExpiresAt        *string        `json:"expires_at"`
	Mode             *string        `json:"mode"`
}

// spec is the key that a call asks for, with every fault of its body.
func (w *keyWanted) spec(c *api.Call, now time.Time) (KeySpec, error) {
	k := KeySpec{
		Account: c.Account, World: c.World, Name: w.Name, Scopes: w.Scopes,
		AllowList: w.AllowList, RequireSignature: w.RequireSignature,
	}
	_, _, f := k.check()
	if w.ExpiresAt != nil {
		at, err := time.Parse(time.RFC3339, *w.ExpiresAt)
		if err != nil {
			f.add("expires_at", "An instant is written as in RFC 3339, such as 2027-01-31T00:00:00Z.")
		} else {
			k.ExpiresAt = at.UTC().Truncate(time.Second)
		}
	}
	if w.Mode != nil && *w.Mode != schema.Live.String() && *w.Mode != schema.Sandbox.String() {
		f.add("mode", "The mode is live or sandbox.")
	}
	if len(f) > 0 {
		// With no other fault this waits for CreateKey: a repeated call must get its
		// stored reply also after the key has expired.
		f.future("expires_at", k.ExpiresAt, now)
		return k, f.problem()
	}
	if w.Mode != nil && *w.Mode != c.World.String() {
		return k, schema.Refuse(schema.Forbidden, "mode", "A key makes keys of its own mode only, which is "+c.World.String()+".")
	}
	return k, nil
}

// postKey answers POST /v1/keys.
func (s *Service) postKey(c *api.Call) (api.Response, error) {
	if _, err := parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	wanted, err := api.Decode[keyWanted](c)
	if err != nil {
		return api.Response{}, err
	}
	spec, err := wanted.spec(c, s.Now())
	if err != nil {
		return api.Response{}, err
	}
	scopes := spec.Scopes
	if scopes == nil {
		scopes = defaultScopes()
	}
	// Before the stored reply of another key's call could be found: it may hold a
	// key that can do more than this one.
	if err := s.mayHandOn(c, scopes); err != nil {
		return api.Response{}, err
	}
	return s.refreshed(c, func(c *api.Call, tx *state.Tx) (api.Response, Entry, error) {
		made, entry, err := CreateKey(tx, s.Box, spec, s.Now())
		return keyMade(made), entry, err
	})
}

func keyMade(made Made) api.Response {
	return api.Response{Status: http.StatusCreated, Value: schema.KeyMade{
		Status: schema.Success, Key: made.Key, SigningSecret: made.SigningSecret, Data: made.Record,
	}}
}

// refreshed makes a change of keys or accounts and lets this instance know it
// before the reply does.
func (s *Service) refreshed(c *api.Call, do Changer) (api.Response, error) {
	resp, err := s.Change(do)(c)
	if err == nil {
		s.refresh(c.Context())
	}
	return resp, err
}

// mayHandOn demands that the calling key has the scopes itself: else any key
// with keys:manage were a key to everything.
func (s *Service) mayHandOn(c *api.Call, scopes []schema.Scope) error {
	var own string
	if err := s.DB.View(c.Context()).QueryRow("SELECT scopes FROM api_key WHERE id = $1", c.Key).Scan(&own); err != nil {
		return err
	}
	has := strings.Fields(own)
	for _, scope := range scopes {
		if !slices.Contains(has, string(scope)) {
			return schema.Refuse(schema.InsufficientScope, "scopes", "A key can hand on only scopes that it has; this one lacks "+string(scope)+".")
		}
	}
	return nil
}

// ownKey returns the key of the path, when it is one of the caller's account and
// world; all others do not exist for him.
func (s *Service) ownKey(c *api.Call, q state.Querier) (KeyRecord, error) {
	k, err := KeyByID(q, mux.Vars(c.Request)["id"], s.Now())
	if err == nil && (k.Account != c.Account || k.World != c.World) {
		err = errNoKey
	}
	return k, err
}

// listKeys answers GET /v1/keys.
func (s *Service) listKeys(c *api.Call) (api.Response, error) {
	params, err := parameters(c.URL.RawQuery, "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	var f faults
	limit, after := f.limitOf(params), s.after(&f, c, "keys", params)
	if err := f.problem(); err != nil {
		return api.Response{}, err
	}
	rows, err := ListKeys(s.DB.View(c.Context()), c.Account, c.World, after, limit+1, s.Now())
	if err != nil {
		return api.Response{}, err
	}
	return page(rows, limit,
		func(k KeyRecord) (schema.Key, error) { return k.Key, nil },
		func(k KeyRecord) *string { return s.cursor(c, "keys", k.ID) })
}

// getKey answers GET /v1/keys/{id}.
func (s *Service) getKey(c *api.Call) (api.Response, error) {
	if _, err := parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	k, err := s.ownKey(c, s.DB.View(c.Context()))
	return keyShown(k), err
}

func keyShown(k KeyRecord) api.Response {
	return api.Response{Value: schema.KeyShown{Status: schema.Success, Data: k.Key}}
}

// deleteKey answers DELETE /v1/keys/{id}.
func (s *Service) deleteKey(c *api.Call) (api.Response, error) {
	if _, err := parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	return s.refreshed(c, func(c *api.Call, tx *state.Tx) (api.Response, Entry, error) {
		k, err := s.ownKey(c, tx)
		if err != nil {
			return api.Response{}, Entry{}, err
		}
		k, entry, err := RevokeKey(tx, k.ID, s.Now())
		return keyShown(k), entry, err
	})
}

// rotateKey answers POST /v1/keys/{id}/rotate.
func (s *Service) rotateKey(c *api.Call) (api.Response, error) {
	if _, err := parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	grace, err := graceOf(c)
	if err != nil {
		return api.Response{}, err
	}
	old, err := s.ownKey(c, s.DB.View(c.Context()))
	if err != nil {
		return api.Response{}, err
	}
	if err := s.mayHandOn(c, old.Scopes); err != nil { // as in postKey
		return api.Response{}, err
	}
	return s.refreshed(c, func(_ *api.Call, tx *state.Tx) (api.Response, Entry, error) {
		made, entry, err := RotateKey(tx, s.Box, old.ID, grace, s.Now())
		return keyMade(made), entry, err
	})
}

// graceOf reads the body of a rotation, which may be left out.
func graceOf(c *api.Call) (time.Duration, error) {
	wanted, err := api.DecodeOptional[struct {
		GraceSeconds *int64 `json:"grace_seconds"`
	}](c)
	if err != nil || wanted.GraceSeconds == nil {
		return DefaultGrace, err
	}
	const longest = int64(LongestGrace / time.Second)
	if *wanted.GraceSeconds < 0 || *wanted.GraceSeconds > longest { // as seconds: a duration could overflow
		return 0, errGrace
	}
	return time.Duration(*wanted.GraceSeconds) * time.Second, nil
}
