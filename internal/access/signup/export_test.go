package signup

import "context"

// Process does what Run does each minute.
func (s *Service) Process(ctx context.Context) error { return s.process(ctx) }

// TLSPolicy returns the policy of the client of a mail server.
func TLSPolicy(address string) (string, error) {
	client, err := newClient(address)
	if err != nil {
		return "", err
	}
	return client.TLSPolicy(), nil
}
