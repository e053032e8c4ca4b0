package account

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vayu/internal/api"
	"vayu/internal/state"
)

// Changer does what a state-changing call asks for, inside tx. It returns what
// to reply and what the audit log says of it; of the entry it fills in Action,
// Subject and Detail. It may be called again after a conflict, so it must have
// no effect but through tx.
type Changer func(c *api.Call, tx *state.Tx) (api.Response, Entry, error)

// Change makes a handler of do: one transaction holds the change, its audit row
// and, when a POST has an Idempotency-Key, its reply. A repeated call gets that
// reply again and changes nothing. A call that fails leaves nothing behind, also
// not its Idempotency-Key.
func (s *Service) Change(do Changer) api.Handler {
	return func(c *api.Call) (api.Response, error) {
		once, err := s.onceOf(c)
		if err != nil {
			return api.Response{}, err
		}
		var resp api.Response
		err = s.DB.Update(c.Context(), func(tx *state.Tx) error {
			now := s.Now()
			if once != nil {
				stored, err := once.claim(tx, now)
				if stored != nil {
					resp = *stored
				}
				if err != nil || stored != nil {
					return err
				}
			}
			var entry Entry
			var err error
			if resp, entry, err = do(c, tx); err != nil {
				return err
			}
			if resp, err = finished(resp); err != nil {
				return err
			}
			if once != nil {
				if err := once.keep(tx, resp); err != nil {
					return err
				}
			}
			return auditCall(tx, now, c, entry)
		})
		if err != nil {
			return api.Response{}, err
		}
		return resp, nil
	}
}

// auditCall appends what a call has changed; an entry without an action says
// that it was nothing.
func auditCall(tx *state.Tx, now time.Time, c *api.Call, e Entry) error {
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
func finished(resp api.Response) (api.Response, error) {
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
