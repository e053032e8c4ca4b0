package sleep_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/sleep"
)

func TestForEndsWithTimeOrContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ending, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		for _, c := range []struct {
			pause, took time.Duration
			complete    bool
		}{
			{0, 0, true}, {-time.Second, 0, true}, {30 * time.Second, 30 * time.Second, true},
			{time.Hour, 30 * time.Second, false}, {time.Hour, 0, false}, {0, 0, false},
		} {
			began := time.Now()
			complete := sleep.For(ending, c.pause)
			if took := time.Since(began); complete != c.complete || took != c.took {
				t.Errorf("a pause of %v took %v, completed: %v; want %v, %v", c.pause, took, complete, c.took, c.complete)
			}
		}
	})
}

func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ending, end := context.WithTimeout(t.Context(), 35*time.Second)
		defer end()
		var ticks []time.Duration
		began := time.Now()
		sleep.Every(ending, 10*time.Second, func(context.Context) { ticks = append(ticks, time.Since(began)) })
		if want := []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}; !slices.Equal(ticks, want) {
			t.Errorf("ticks at %v, want %v", ticks, want)
		}
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{
		0: 5 * time.Second, 1: 10 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute, 62: 10 * time.Minute, 1 << 40: 10 * time.Minute,
	} {
		if got := sleep.Backoff(failures, 5*time.Second, 10*time.Minute); got != want {
			t.Errorf("Backoff(%d) = %v, want %v", failures, got, want)
		}
	}
}
