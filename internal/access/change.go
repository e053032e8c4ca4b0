package access

import (
	"errors"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/access/idempotency"
	"vayu/internal/access/session"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
)

// Changer performs a state-changing call inside tx. It returns the reply and an audit entry with Action, Subject and
// Detail. It may run again after a conflict, so its only effects must be changes of the store through tx.
type Changer func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error)

// Change returns a handler that runs `do`. One transaction writes the change, its audit row and, for a POST with an
// Idempotency-Key, its reply. A repeated call gets the stored reply and has no further effect. A failed call stores
// nothing, not even its Idempotency-Key.
func (s *Service) Change(do Changer) httpapi.Handler {
	return func(c *httpapi.Call) (httpapi.Response, error) {
		return s.change(c, change{do: func(c *httpapi.Call, tx *sqlstore.Tx, _ apikey.Record) (httpapi.Response, audit.Entry, error) {
			return do(c, tx)
		}})
	}
}

// change describes a state-changing call. The parameter `caller` of its functions is the stored row of the calling key.
type change struct {
	do func(c *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error)
	// access is true for a change of accounts, keys or sessions. A lock serializes such changes. The lock is acquired
	// before the row of the calling key is read, so a key that is revoked concurrently can change nothing.
	access bool
	// notStored means that the reply is not stored for an Idempotency-Key, because it contains secrets. A repeated call
	// is performed again.
	notStored bool
	// after checks the reply, including a stored reply to an earlier call; nil checks nothing. If the function `after`
	// returns an error, the transaction is rolled back.
	after func(tx *sqlstore.Tx, caller apikey.Record, resp httpapi.Response) error
}

func (s *Service) change(c *httpapi.Call, ch change) (resp httpapi.Response, err error) {
	var repeated *idempotency.Key
	if !ch.notStored {
		if repeated, err = idempotency.Parse(s.Cipher, c); err != nil {
			return httpapi.Response{}, err
		}
	}
	err = s.DB.Update(c.Context(), func(tx *sqlstore.Tx) error {
		now := s.Now()
		if ch.access {
			if err := account.Lock(tx); err != nil {
				return err
			}
		}
		caller, err := callerOf(tx, c, now)
		if err != nil {
			return err
		}
		var entry audit.Entry
		var stored bool
		if resp, entry, stored, err = repeated.Perform(tx, now, func() (httpapi.Response, audit.Entry, error) { return ch.do(c, tx, caller) }); err != nil {
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

// callerOf reads the key of a call from the store, because the cached key may be outdated. It fails if the key is
// unknown, revoked or expired, or if the session of the call has ended.
func callerOf(tx *sqlstore.Tx, c *httpapi.Call, now time.Time) (apikey.Record, error) {
	k, err := apikey.ByID(tx, c.Key, now)
	switch {
	case errors.Is(err, apikey.ErrNotFound):
		return k, errUnknownKey
	case err != nil:
		return k, err
	case k.RevokedAt != nil:
		return k, errRevokedKey
	case !k.Active:
		return k, errExpiredKey
	case c.BySession:
		return k, session.Check(tx, c, now)
	}
	return k, nil
}

// auditCall appends the change of a call to the audit log. If e has no action, nothing has changed, and auditCall does
// nothing.
func auditCall(tx *sqlstore.Tx, now time.Time, c *httpapi.Call, e audit.Entry) error {
	if e.Action == "" {
		return nil
	}
	e.Account, e.World, e.Actor = c.Account, c.World, c.Key
	e.Request = c.ID
	if c.Client.IsValid() {
		e.Client = c.Client.String()
	}
	return audit.Append(tx, now, e)
}
