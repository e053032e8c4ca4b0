package access

import (
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// lastYear is the last year that RFC 3339 can express.
const lastYear = 9999

// keyRequest is the body of POST /v1/keys.
type keyRequest struct {
	Name             string         `json:"name"`
	Scopes           []schema.Scope `json:"scopes"`
	AllowList        []string       `json:"allow_list"`
	RequireSignature *bool          `json:"require_signature"`
	ExpiresAt        *string        `json:"expires_at"`
	Mode             *string        `json:"mode"`
}

// spec converts the body to the specification of a key. The error is a *schema.Problem with all faults of the body. The
// parameter `most` is the limit of active keys of an account in one world.
func (w *keyRequest) spec(c *httpapi.Call, most int, now time.Time) (apikey.Spec, error) {
	k := apikey.Spec{
		Account: c.Account, World: c.World, Name: w.Name, Scopes: w.Scopes,
		AllowList: w.AllowList, RequireSignature: w.RequireSignature != nil && *w.RequireSignature, MaxActive: most,
	}
	_, _, f := k.Check()
	if w.ExpiresAt != nil {
		at, err := time.Parse(time.RFC3339, *w.ExpiresAt)
		if err != nil || at.UTC().Year() > lastYear {
			f.Add("expires_at", "The expiry must be an RFC 3339 time, such as 2027-01-31T00:00:00Z.")
		} else {
			k.ExpiresAt = at.UTC().Truncate(time.Second)
		}
	}
	if w.Mode != nil && *w.Mode != schema.Live.String() && *w.Mode != schema.Sandbox.String() {
		f.Add("mode", "The mode must be live or sandbox.")
	}
	if len(f) > 0 {
		// The reply must list all faults, including an expiry in the past. If there is no other fault, Create checks
		// the expiry instead. Create does not run for a repeated call, which gets its stored reply even after the
		// expiry.
		apikey.CheckExpiry(&f, "expires_at", k.ExpiresAt, now)
		return k, f.Problem()
	}
	if w.Mode != nil && *w.Mode != c.World.String() {
		return k, schema.NewProblem(schema.Forbidden, "mode", "The mode must be the mode of the calling key, which is "+c.World.String()+".")
	}
	return k, nil
}

func (s *Service) postKey(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := httpapi.Decode[keyRequest](c)
	if err != nil {
		return httpapi.Response{}, err
	}
	spec, err := wanted.spec(c, s.Settings.MaxKeys, s.Now())
	if err != nil {
		return httpapi.Response{}, err
	}
	return s.refreshed(c, change{
		do: func(_ *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error) {
			spec := caller.Inherited(spec, wanted.RequireSignature == nil)
			made, entry, err := apikey.Create(tx, s.Cipher, spec, s.Now())
			return keyMade(made), entry, err
		},
		after: s.checkDelegation,
	})
}

// keysPath is the path of a key without its id.
const keysPath = "/v1/keys/"

func keyMade(made apikey.Created) httpapi.Response {
	return httpapi.Response{Status: http.StatusCreated, Location: keysPath + made.Record.ID, Value: schema.KeyCreated{
		Status: schema.Success, Key: made.Key, SigningSecret: made.SigningSecret, Data: made.Record,
	}}
}

// refreshed runs a change of keys or accounts, and refreshes this instance's cache before it replies.
func (s *Service) refreshed(c *httpapi.Call, ch change) (httpapi.Response, error) {
	ch.access = true
	resp, err := s.change(c, ch)
	if err == nil {
		s.refresh(c.Context())
	}
	return resp, err
}

// checkDelegation checks the key in a reply with [apikey.Record.Covers]. A stored reply to a repeated call is
// checked too: a key with more rights may have made the first call.
func (s *Service) checkDelegation(tx *sqlstore.Tx, caller apikey.Record, resp httpapi.Response) error {
	made, err := apikey.ByID(tx, strings.TrimPrefix(resp.Location, keysPath), s.Now())
	if err != nil {
		return err
	}
	return caller.Covers(made)
}

// ownKey returns the key in the path, if it belongs to the caller's account and world (live or sandbox), and not to a
// member. For other keys it returns ErrNotFound.
func (s *Service) ownKey(c *httpapi.Call, q sqlstore.Querier) (apikey.Record, error) {
	k, err := apikey.ByID(q, mux.Vars(c.Request)["id"], s.Now())
	if err == nil && (k.Account != c.Account || k.World != c.World || k.Member != "") {
		err = apikey.ErrNotFound
	}
	return k, err
}

func (s *Service) listKeys(c *httpapi.Call) (httpapi.Response, error) {
	var f schema.RequestErrors
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, "keys", c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := apikey.List(s.DB.View(c.Context()), c.Account, c.World, after, limit+1, s.Now())
	if err != nil {
		return httpapi.Response{}, err
	}
	return pagination.Reply(rows, limit,
		func(k apikey.Record) (schema.Key, error) { return k.Key, nil },
		func(k apikey.Record) *string { return pagination.Cursor(c, "keys", k.ID) })
}

func (s *Service) getKey(c *httpapi.Call) (httpapi.Response, error) {
	k, err := s.ownKey(c, s.DB.View(c.Context()))
	return keyShown(k), err
}

func keyShown(k apikey.Record) httpapi.Response {
	return httpapi.Response{Value: schema.KeyReply{Status: schema.Success, Data: k.Key}}
}

func (s *Service) deleteKey(c *httpapi.Call) (httpapi.Response, error) {
	return s.refreshed(c, change{do: func(c *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error) {
		k, err := s.ownKey(c, tx)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		if err := caller.MayRevoke(k); err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		k, entry, err := apikey.Revoke(tx, k.ID, s.Now())
		return keyShown(k), entry, err
	}})
}

func (s *Service) rotateKey(c *httpapi.Call) (httpapi.Response, error) {
	grace, err := graceOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return s.refreshed(c, change{
		do: func(c *httpapi.Call, tx *sqlstore.Tx, _ apikey.Record) (httpapi.Response, audit.Entry, error) {
			old, err := s.ownKey(c, tx)
			if err != nil {
				return httpapi.Response{}, audit.Entry{}, err
			}
			made, entry, err := apikey.Rotate(tx, s.Cipher, old.ID, grace, s.Settings.MaxKeys, s.Now())
			return keyMade(made), entry, err
		},
		after: s.checkDelegation, // the new key has the permissions of the old key, which the caller may lack
	})
}

// graceOf returns the grace period that the body of a rotation states, or the default if the body states none.
func graceOf(c *httpapi.Call) (time.Duration, error) {
	wanted, err := httpapi.DecodeOptional[struct {
		GraceSeconds *int64 `json:"grace_seconds"`
	}](c)
	if err != nil || wanted.GraceSeconds == nil {
		return apikey.DefaultGrace, err
	}
	const longest = int64(apikey.LongestGrace / time.Second)
	if *wanted.GraceSeconds < 0 || *wanted.GraceSeconds > longest { // before the conversion, which could overflow
		return 0, apikey.ErrGrace
	}
	return time.Duration(*wanted.GraceSeconds) * time.Second, nil
}
