package access

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// All queries of analysts together have at most half of the processors, except that one query always runs.
func TestQueriesShareHalfOfProcessors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ queries, processors, slots, threads int }{
		{2, 1, 1, 1},
		{2, 2, 1, 1},
		{2, 4, 2, 1},
		{2, 16, 2, 4},
		{3, 16, 3, 2},
		{32, 8, 4, 1},
		{0, 8, 1, 4},
	} {
		t.Run(fmt.Sprintf("%d queries, %d processors", c.queries, c.processors), func(t *testing.T) {
			t.Parallel()
			l := Limits{Queries: c.queries}
			if got := l.Slots(c.processors); got != c.slots {
				t.Errorf("got %d slots, want %d", got, c.slots)
			}
			if got := l.threads(c.processors); got != c.threads {
				t.Errorf("got %d threads, want %d", got, c.threads)
			}
		})
	}
}

// The engine counts whole seconds, and 0 would mean no limit.
func TestShortTimeLimitIsOneSecond(t *testing.T) {
	t.Parallel()
	got := Limits{Time: 500 * time.Millisecond}.bounds()
	if want := (bound{"max_execution_time", "1"}); !slices.Contains(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
