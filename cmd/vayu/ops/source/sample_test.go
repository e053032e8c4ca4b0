package source

import (
	"testing"
	"time"

	"vayu/schema/air"
)

func TestHowOldTheNewestReadingIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 11, 2, 0, 0, time.UTC)
	readings := []air.Reading{{At: now.Add(-9 * time.Hour)}, {At: now.Add(-5*time.Hour - 32*time.Minute)}, {At: now.Add(-6 * time.Hour)}}
	if got, want := newest(readings, now), ", the newest of 2026-11-22 05:30 UTC (5h32m0s ago)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := newest(nil, now); got != "" {
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
