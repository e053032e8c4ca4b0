package events

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/outbox"
)

func TestTimesOfAReplay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-20T10:00:00Z":      time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
		"2026-11-20T10:00:00+05:30": time.Date(2026, 11, 20, 4, 30, 0, 0, time.UTC),
		"2026-11-20":                time.Date(2026, 11, 19, 18, 30, 0, 0, time.UTC),
		"90m":                       now.Add(-90 * time.Minute),
	} {
		got, err := parseTime(text, now)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	request, err := replayOptions{from: "1h", dry: true}.check(now)
	want := outbox.Replay{From: now.Add(-time.Hour), To: now.Add(-replayMinAge), DryRun: true}
	if diff := cmp.Diff(want, request); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
