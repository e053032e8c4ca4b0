package loader

import (
	"testing"
	"time"
)

// Stations that are read slowly are read less often, but an instance sees the changes of others within five minutes.
func TestLifetimeOfStationsIsBounded(t *testing.T) {
	t.Parallel()
	for read, want := range map[time.Duration]time.Duration{
		time.Millisecond: 10 * time.Second, time.Second: 100 * time.Second, time.Minute: 5 * time.Minute,
	} {
		t.Run(read.String(), func(t *testing.T) {
			t.Parallel()
			if got := stationLifetime(read); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
