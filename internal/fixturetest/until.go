package fixturetest

import (
	"testing"
	"time"
)

const (
	patience = 3 * time.Minute      // a machine may be busy, and the race detector slow
	between  = 2 * time.Millisecond // two looks: a loop without a pause takes the time of what it waits for
)

// Until waits until something is so that nobody tells of, and fails the test when it
// is not after three minutes.
func Until(tb testing.TB, what string, so func() bool) {
	tb.Helper()
	for limit := time.Now().Add(patience); !so(); time.Sleep(between) {
		if time.Now().After(limit) {
			tb.Fatalf("after %s it is not so that %s", patience, what)
		}
	}
}
