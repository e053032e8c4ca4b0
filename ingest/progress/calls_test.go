package progress_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/progress"
	"vayu/ingest/source/described/budget"
	"vayu/internal/config/section"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// rule returns the budget of a description.
func rule(t *testing.T, calls string) budget.Rule {
	t.Helper()
	root := section.Parse("test.yaml", []byte("budget: {calls: ["+calls+"]}"), func(string) (string, bool) { return "", false })
	r := budget.Read(root.Section("budget"))
	if err := root.Finish(); err != nil {
		t.Fatal(err)
	}
	return r
}

// server counts calls by the clock.
type server struct {
	*httptest.Server

	mu    sync.Mutex
	calls []time.Time
}

func newServer(t *testing.T, now func() time.Time) *server {
	s := new(server)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, now())
		_, _ = fmt.Fprint(w, "{}")
	}))
	t.Cleanup(s.Close)
	return s
}

// want checks that no period has more calls than allowed.
func (s *server) want(t *testing.T, most int, per time.Duration) {
	t.Helper()
	slices.SortFunc(s.calls, time.Time.Compare)
	for i := most; i < len(s.calls); i++ {
		if got := s.calls[i].Sub(s.calls[i-most]); got < per {
			t.Errorf("%d calls within %s, want at most %d in %s", most+1, got, most, per)
		}
	}
}

// Two processes that alternate, and restart, keep one budget. Each waits by moving the clock.
func TestProcessesShareCallBudget(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	db := sqlstoretest.SQLite(t)
	api := newServer(t, clock.Now)
	limits := rule(t, "5/1m, 30/1h")
	process := func() *budget.Caller {
		return budget.NewCaller(fetch.New(time.Minute, 1000), limits, progress.Calls(db, clock.Now)("openaq"), clock.Now, func(ctx context.Context, d time.Duration) error {
			clock.Advance(d)
			return ctx.Err()
		})
	}
	for range 20 { // restarts
		one, two := process(), process()
		for i, c := range []*budget.Caller{one, two, one, two, two} {
			ctx := t.Context()
			if i == 1 {
				ctx = ingest.WithBackground(ctx)
			}
			if _, err := c.Get(ctx, fetch.Request{URL: api.URL}); err != nil {
				t.Fatal(err)
			}
			clock.Advance(300 * time.Millisecond)
		}
	}
	if len(api.calls) != 100 {
		t.Errorf("%d calls, want 100", len(api.calls))
	}
	api.want(t, 5, time.Minute)
	api.want(t, 30, time.Hour)
}

// Many callers at a time share a budget on both engines, by the real clock.
func TestConcurrentCallersShareCallBudget(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		api := newServer(t, time.Now)
		limits := rule(t, "10/1s")
		var all sync.WaitGroup
		for range 4 {
			c := budget.NewCaller(fetch.New(time.Minute, 1000), limits, progress.Calls(db, time.Now)("openaq"), time.Now, nil)
			all.Go(func() {
				for range 10 {
					if _, err := c.Get(t.Context(), fetch.Request{URL: api.URL}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if len(api.calls) != 40 {
			t.Errorf("%d calls, want 40", len(api.calls))
		}
		// A call is counted before it is sent, and may arrive late on a busy machine. The whole cannot be faster.
		if took := api.calls[39].Sub(api.calls[0]); took < 2*time.Second {
			t.Errorf("40 calls took %s, want at least 3 s less the delay of a call", took)
		}
	})
}

// A call beyond the budget that cannot wait is not counted.
func TestRefusedCallIsNotCounted(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	db := sqlstoretest.SQLite(t)
	api := newServer(t, clock.Now)
	c := budget.NewCaller(fetch.New(time.Minute, 1000), rule(t, "1/1h"), progress.Calls(db, clock.Now)("openaq"), clock.Now, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 3 {
		_, err := c.Get(ctx, fetch.Request{URL: api.URL})
		if len(api.calls) != 1 || err != nil && !errors.Is(err, budget.ErrUsedUp) {
			t.Errorf("%d calls, error %v", len(api.calls), err)
		}
	}
	clock.Advance(time.Hour)
	if _, err := c.Get(ctx, fetch.Request{URL: api.URL}); err != nil || len(api.calls) != 2 {
		t.Errorf("%d calls, error %v, want a second call after an hour", len(api.calls), err)
	}
}
