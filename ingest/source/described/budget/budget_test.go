package budget

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

var noon = time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC)

func TestStatedLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		header  map[string]string
		refused bool
		want    time.Duration // until the next call
	}{
		{"Retry-After in seconds", map[string]string{"Retry-After": "30"}, true, 30 * time.Second},
		{"Retry-After as a date", map[string]string{"Retry-After": noon.Add(2 * time.Minute).Format(http.TimeFormat)}, true, 2 * time.Minute},
		{"Retry-After in the past", map[string]string{"Retry-After": noon.Add(-time.Hour).Format(http.TimeFormat)}, true, defaultPause},
		{"Retry-After precedes the reset", map[string]string{"Retry-After": "7", "X-Reset": "50"}, true, 7 * time.Second},
		{"reset in seconds", map[string]string{"X-Reset": "5"}, true, 5 * time.Second},
		{"reset as Unix time", map[string]string{"X-Reset": fmt.Sprint(noon.Add(40 * time.Second).Unix())}, true, 40 * time.Second},
		{"reset without sense", map[string]string{"X-Reset": "soon"}, true, defaultPause},
		{"no header", nil, true, defaultPause},
		{"accepted", map[string]string{"X-Reset": "50", "X-Left": "3"}, false, 0},
		{"accepted, the last call", map[string]string{"X-Reset": "50", "X-Left": "0"}, false, 50 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := budget{rule: Rule{resetHeader: "X-Reset", remainingHeader: "X-Left"}}
			h := http.Header{}
			for name, value := range c.header {
				h.Set(name, value)
			}
			b.observe(h, c.refused, noon)
			if got := b.next(noon, false).Sub(noon); got != c.want {
				t.Errorf("next call after %s, want %s", got, c.want)
			}
		})
	}
}

// The state of a large budget stays small, and the budget is kept.
func TestStateOfBudgetIsBounded(t *testing.T) {
	t.Parallel()
	b := budget{rule: Rule{limits: []callLimit{{5000, time.Hour}}}}
	var calls []time.Time
	at := noon
	for i := range 12_000 {
		at = b.next(at, false)
		b.spend(at, at)
		calls = append(calls, at)
		at = at.Add(100 * time.Millisecond)
		if i%100 > 0 {
			continue
		}
		text, err := b.encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 32<<10 {
			t.Fatalf("the state has %d bytes", len(text))
		}
		b = budget{rule: b.rule}
		b.decode(text)
	}
	for i := 5000; i < len(calls); i++ {
		if got := calls[i].Sub(calls[i-5000]); got < time.Hour {
			t.Fatalf("5001 calls within %s, want at most 5000 in an hour", got)
		}
	}
	if took := calls[len(calls)-1].Sub(noon); took > 2*time.Hour+40*time.Minute {
		t.Errorf("12,000 calls took %s; the budget allows them in 2 h 24 m", took)
	}
}

func TestBackgroundLeavesAPart(t *testing.T) {
	t.Parallel()
	b := budget{rule: Rule{limits: []callLimit{{10, time.Minute}}}}
	for range 8 {
		b.spend(noon, noon)
	}
	if got := b.next(noon, true); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("the next call in the background is at %s, want in a minute", got)
	}
	if got := b.next(noon, false); !got.Equal(noon) {
		t.Errorf("the next other call is at %s, want now", got)
	}
	one := budget{rule: Rule{limits: []callLimit{{1, time.Minute}}}}
	if got := one.next(noon, true); !got.Equal(noon) {
		t.Errorf("with one call a minute, the next in the background is at %s, want now", got)
	}
}
