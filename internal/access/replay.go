package access

import (
	"vayu/internal/access/audit"
	"vayu/internal/access/idempotency"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
)

// Replay returns a handler for a POST whose work is idempotent and not in the state store, such as the
// insert of readings. It stores the reply after the work has succeeded. A repeated call with the same
// Idempotency-Key gets the stored reply. Two simultaneous calls with one Idempotency-Key both do the work,
// and both get the reply that was stored first.
func (s *Service) Replay(work httpapi.Handler) httpapi.Handler {
	return func(c *httpapi.Call) (httpapi.Response, error) {
		key, err := idempotency.Parse(s.Cipher, c)
		if err != nil {
			return httpapi.Response{}, err
		}
		if key == nil {
			return work(c)
		}
		before, err := key.Stored(s.DB.View(c.Context()), s.Now())
		if err != nil {
			return httpapi.Response{}, err
		}
		if before != nil {
			return *before, nil
		}
		resp, err := work(c)
		if err != nil {
			return httpapi.Response{}, err
		}
		err = s.DB.Update(c.Context(), func(tx *sqlstore.Tx) error {
			var err error
			resp, _, _, err = key.Perform(tx, s.Now(), func() (httpapi.Response, audit.Entry, error) { return resp, audit.Entry{}, nil })
			return err
		})
		return resp, err
	}
}
