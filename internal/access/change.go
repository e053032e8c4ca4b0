package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
)

// Changer does what a state-changing call asks for, inside tx. It returns what
// to reply and what the audit log says of it; of the entry it fills in Action,
// Subject and Detail. It may be called again after a conflict, so it must have
// no effect but through tx.
type Changer func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, Entry, error)

// Change makes a handler of do: one transaction holds the change, its audit row
// and, when a POST has an Idempotency-Key, its reply. A repeated call gets that
// reply again and changes nothing. A call that fails leaves nothing behind, also
// not its Idempotency-Key.
func (s *Service) Change(do Changer) httpapi.Handler {
	return func(c *httpapi.Call) (httpapi.Response, error) {
		return s.change(c, change{do: func(c *httpapi.Call, tx *sqlstore.Tx, _ KeyRecord) (httpapi.Response, Entry, error) {
			return do(c, tx)
		}})
	}
}

// change is a state-changing call of a key, which is caller as its row is now.
type change struct {
	do func(c *httpapi.Call, tx *sqlstore.Tx, caller KeyRecord) (httpapi.Response, Entry, error)
	// access says that accounts or keys are changed. Then others of its kind wait
	// before the caller is looked at, so that none that is being revoked leaves
	// something behind.
	access bool
	// anew says that the call is done however often it comes: its reply holds what is
	// not kept, so an Idempotency-Key could not bring it again.
	anew bool
	// after looks at the reply, also at a stored one; nil for none. When it fails,
	// nothing has happened.
	after func(tx *sqlstore.Tx, caller KeyRecord, resp httpapi.Response) error
}

func (s *Service) change(c *httpapi.Call, ch change) (resp httpapi.Response, err error) {
	var repeated *Once
	if !ch.anew {
		if repeated, err = OnceOf(s.Box, c); err != nil {
			return httpapi.Response{}, err
		}
	}
	err = s.DB.Update(c.Context(), func(tx *sqlstore.Tx) error {
		now := s.Now()
		if ch.access {
			if err := Lock(tx); err != nil {
				return err
			}
		}
		caller, err := callerOf(tx, c, now)
		if err != nil {
			return err
		}
		var entry Entry
		var stored bool
		if resp, entry, stored, err = repeated.perform(tx, now, func() (httpapi.Response, Entry, error) { return ch.do(c, tx, caller) }); err != nil {
			return err
		}
		if ch.after != nil {
			if err := ch.after(tx, caller, resp); err != nil {
				return err
			}
		}
		if stored {
			return nil
		}
		return auditCall(tx, now, c, entry)
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return resp, nil
}

// callerOf reads the key of a call anew: the one in memory may be as old as a
// look at the store, and a key that was revoked meanwhile must change nothing.
func callerOf(tx *sqlstore.Tx, c *httpapi.Call, now time.Time) (KeyRecord, error) {
	k, err := keyByID(tx, c.Key, now)
	switch {
	case errors.Is(err, errNoKey):
		return k, errUnknownKey
	case err != nil:
		return k, err
	case k.RevokedAt != nil:
		return k, errRevokedKey
	case !k.Active:
		return k, errExpiredKey
	case c.BySession:
		return k, stillSignedIn(tx, c, now)
	}
	return k, nil
}

// auditCall appends what a call has changed; an entry without an action says
// that it was nothing.
func auditCall(tx *sqlstore.Tx, now time.Time, c *httpapi.Call, e Entry) error {
	if e.Action == "" {
		return nil
	}
	e.Account, e.World, e.Actor = c.Account, c.World, c.Key
	e.Request = c.ID
	if c.Client.IsValid() {
		e.Client = c.Client.String()
	}
	return Audit(tx, now, e)
}

// finished turns a response into its status and bytes, so that what is stored is
// what is sent.
func finished(resp httpapi.Response) (httpapi.Response, error) {
	if resp.Status == 0 {
		resp.Status = http.StatusOK
	}
	if resp.Value != nil {
		body, err := json.Marshal(resp.Value)
		if err != nil {
			return resp, fmt.Errorf("writing a reply: %w", err)
		}
		resp.Body, resp.Value = body, nil
	}
	return resp, nil
}
