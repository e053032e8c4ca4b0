package recharge

import (
	"context"
	"testing"

	"vayu/internal/testing/fixture"
)

// What is pending with a provider that is not there any more is said once, at the start.
func TestProvidersThatAreMissedAreNamed(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Pending}) })
		for range 2 {
			s.do(s.request())
		}
		ended, end := context.WithCancel(t.Context())
		end()
		for name, want := range map[string]int{"puppet": 0, "another": 1} {
			s.open(s.DB)
			var log fixture.Log
			s.lines[0].Name, s.Log = name, log.Logger()
			if err := s.warnOfStranded(t.Context()); err != nil {
				t.Error(err)
			}
			if got := log.Count("level=WARN"); got != want || log.Count("provider=puppet world=live pending=2") != want {
				t.Errorf("with %s: %d lines, want %d", name, got, want)
			}
			if err := s.warnOfStranded(ended); err == nil {
				t.Error("a store that does not answer is not told of")
			}
		}
	})
}
