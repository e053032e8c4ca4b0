package sleep_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/sleep"
)

func TestAPauseEndsWithItsTimeOrItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ending, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		for _, c := range []struct {
			of, took time.Duration
			whole    bool
		}{
			{0, 0, true}, {-time.Second, 0, true}, {30 * time.Second, 30 * time.Second, true},
			{time.Hour, 30 * time.Second, false}, {time.Hour, 0, false}, {0, 0, false},
		} {
			began := time.Now()
			whole := sleep.For(ending, c.of)
			if took := time.Since(began); whole != c.whole || took != c.took {
				t.Errorf("a pause of %v took %v, whole: %v; want %v, %v", c.of, took, whole, c.took, c.whole)
			}
		}
	})
}
