package push

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"vayu/schema"
)

// An account cannot use the slots of others, and a released slot can be acquired again.
func TestSlotsOfAnAccountAreLimited(t *testing.T) {
	t.Parallel()
	s := newSlots()
	var releases []func()
	for range slotsPerAccount {
		release, err := s.acquire(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	_, err := s.acquire(t.Context(), "one")
	if p, ok := errors.AsType[*schema.Problem](err); !ok {
		t.Errorf("one more of the account: got error %v, want a problem", err)
	} else if p.Code != schema.RateLimited {
		t.Errorf("one more of the account: got %s, want %s", p.Code, schema.RateLimited)
	}
	if _, err := s.acquire(t.Context(), "other"); err != nil {
		t.Errorf("another account: %v", err)
	}
	releases[0]()
	if _, err := s.acquire(t.Context(), "one"); err != nil {
		t.Errorf("after a release: %v", err)
	}
}

// If all slots are in use, a request waits and then gets a retryable error.
func TestSlotsInTotalAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots()
		for i := range slotsTotal {
			if _, err := s.acquire(t.Context(), string(rune('a'+i))); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.acquire(context.Background(), "z")
		if p, ok := errors.AsType[*schema.Problem](err); !ok {
			t.Errorf("got error %v, want a problem", err)
		} else if p.Code != schema.ServiceUnavailable || !p.Retryable {
			t.Errorf("got %s, retryable %v; want %s, retryable", p.Code, p.Retryable, schema.ServiceUnavailable)
		}
		if n := s.used["z"]; n != 0 {
			t.Errorf("the refused request holds %d slots", n)
		}
	})
}
