package fixturetest

import (
	"runtime"
	"testing"
	"time"
)

// Until waits until something is so that nobody tells of, and fails the test when it
// is not after a minute.
func Until(tb testing.TB, what string, so func() bool) {
	tb.Helper()
	for limit := time.Now().Add(time.Minute); !so(); runtime.Gosched() {
		if time.Now().After(limit) {
			tb.Fatalf("after a minute it is not so that %s", what)
		}
	}
}
