package preview

import (
	"testing"
	"time"
)

func TestHowOldTheNewestReadingIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 11, 2, 0, 0, time.UTC)
	if got, want := age(now.Add(-5*time.Hour-32*time.Minute), now), ", the newest of 2026-11-22 05:30 UTC (5h32m0s ago)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := age(time.Time{}, now); got != "" {
		t.Errorf("without readings: %q", got)
	}
}

// A reply may have sequences that change the terminal.
func TestTextOfAPIIsOnePlainLine(t *testing.T) {
	t.Parallel()
	if got, want := oneLine("a\x1b[31m\r\n\tनमस्ते \u202eb\x00"), "a [31m नमस्ते b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
