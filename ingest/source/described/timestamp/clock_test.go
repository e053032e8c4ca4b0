package timestamp

import (
	"testing"
	"time"
)

// observed reads times of the OGC SensorThings API: intervals and single times.
func observed() *Clock {
	return &Clock{formats: []string{formatInterval, formatRFC3339}, zone: time.UTC}
}

func TestIntervals(t *testing.T) {
	t.Parallel()
	nine := time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]struct {
		at     time.Time
		length time.Duration
		ok     bool
	}{
		"2026-03-08T08:00:00Z/2026-03-08T09:00:00Z":              {nine, time.Hour, true},
		"2026-03-08T08:45:00.000Z/2026-03-08T14:30:00.000+05:30": {nine, 15 * time.Minute, true},
		"2026-03-08T09:00:00Z/2026-03-08T09:00:00Z":              {nine, 0, true},
		"2026-03-08T09:00:00Z":                                   {nine, 0, true},
		"2026-03-08T10:00:00Z/2026-03-08T09:00:00Z":              {},
		"2026-03-08T08:00:00Z/":                                  {},
		"/2026-03-08T09:00:00Z":                                  {},
		"2026-03-08T08:00:00Z/PT1H":                              {},
		"":                                                       {},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			at, length, ok := observed().parse(text)
			if ok != want.ok || !at.Equal(want.at) || length != want.length {
				t.Errorf("got %v, %v, %v, want %v, %v, %v", at, length, ok, want.at, want.length, want.ok)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("2026-03-08T08:00:00Z/2026-03-08T09:00:00Z")
	f.Add("2026-03-08T08:00:00.123+05:30")
	f.Fuzz(func(t *testing.T, text string) {
		if at, length, ok := observed().parse(text); length < 0 || !ok && !at.IsZero() {
			t.Errorf("got %v, %v, %v", at, length, ok)
		}
	})
}
