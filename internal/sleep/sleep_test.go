package sleep_test

import (
	"context"
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
