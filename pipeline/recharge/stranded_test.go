package recharge

import (
	"context"
	"testing"

	"vayu/internal/testing/fixture"
	"vayu/pipeline/recharge/order"
)

// Pending recharges of an unconfigured provider are logged once, at the start.
func TestStrandedRechargesAreLogged(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending}) })
		for range 2 {
			s.do(s.request())
		}
		ended, end := context.WithCancel(t.Context())
		end()
		for name, want := range map[string]int{"fake": 0, "another": 1} {
			s.restart(s.DB)
			var log fixture.Log
			s.connections[0].Name, s.Log = name, log.Logger()
			if err := s.warnStranded(t.Context()); err != nil {
				t.Error(err)
			}
			for _, text := range []string{"level=WARN", "provider=fake world=live pending=2"} {
				if got := log.Count(text); got != want {
					t.Errorf("with %s: %d lines with %s, want %d", name, got, text, want)
				}
			}
			if err := s.warnStranded(ended); err == nil {
				t.Error("a failure of the store is not reported")
			}
		}
	})
}
