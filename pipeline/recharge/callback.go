package recharge

import (
	"vayu/internal/httpapi"
	"vayu/pipeline/transaction"
)

// Callbacks returns the handler of each provider that sends callbacks, by its name.
func (s *Service) Callbacks() map[string]transaction.Callback {
	out := map[string]transaction.Callback{}
	for _, conn := range s.connections {
		if conn.Receiver == nil {
			continue
		}
		out[conn.Name] = func(c *httpapi.Call) error {
			callback, err := conn.Receiver.Receive(c.Header, c.Body, s.Now())
			if err != nil {
				return err
			}
			_, err = s.Settle(c.Context(), conn.World, conn.Name, callback.Reference, callback.Answer, byCallback+conn.Name)
			return err
		}
	}
	return out
}
