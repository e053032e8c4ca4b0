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
			if got := b.next(noon).Sub(noon); got != c.want {
				t.Errorf("next call after %s, want %s", got, c.want)
			}
		})
	}
}
