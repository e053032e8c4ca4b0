package verify

import (
	"vayu/internal/httpapi"
	"vayu/pipeline/transaction"
)

// Callbacks returns the callback handlers of the banks that send callbacks, by name.
func (s *Service) Callbacks() map[string]transaction.Callback {
	out := map[string]transaction.Callback{}
	for _, l := range s.connections {
		if l.Receiver == nil {
			continue
		}
		out[l.Name] = func(c *httpapi.Call) error {
			callback, err := l.Receiver.Receive(c.Header, c.Body, s.Now())
			if err != nil {
				return err
			}
			_, err = s.Settle(c.Context(), l.World, l.Name, callback.Reference, callback.Answer, "provider:"+l.Name)
			return err
		}
	}
	return out
}
