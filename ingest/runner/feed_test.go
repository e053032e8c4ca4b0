package runner_test

import (
	"testing"
	"time"

	"vayu/ingest/runner"
)

// A feed may be silent for three times the longest gap of its schedule, such as a night or a weekend.
func TestSilenceCountsTheLongestGapOfASchedule(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	for schedule, want := range map[string]time.Duration{
		"*/10 8-18 * * *":   3 * (13*time.Hour + 10*time.Minute),
		"*/10 8-18 * * 1-5": 3 * (61*time.Hour + 10*time.Minute),
		"@every 12h":        36 * time.Hour,
	} {
		t.Run(schedule, func(t *testing.T) {
			t.Parallel()
			got, err := runner.Feed{Schedule: schedule}.Silence(monday)
			if err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
}
