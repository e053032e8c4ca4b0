package described

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/budget"
	"vayu/internal/testing/fixture"
)

var noon = time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC)

// rows is a description without station, readings and paging.
const rows = `
about: rows of a test
licence: CC0
attribution: a test
local: true
records: rows
station: {id: id}
time: {field: t, format: rfc3339}
readings:
  pm25: {value: v, unit: µg/m³}
request: {url: "%s/rows/{part}", query: {from: "{from}", to: "{to}"}}
`

// network serves rows and notes each call.
func network(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	web := httptest.NewServer(answer)
	t.Cleanup(web.Close)
	return web.URL
}

// source builds a source from a description whose text may hold the server's address.
func source(t *testing.T, server, more string, clock *fixture.Clock) *Source {
	t.Helper()
	s := open(t, File{Path: "rows.yaml", Text: []byte(fmt.Sprintf(rows, server) + more), Env: anyKey}, clock.Now)
	s.caller.Sleep = func(ctx context.Context, d time.Duration) error {
		clock.Advance(d)
		return ctx.Err()
	}
	return s
}

func drop(b *ingest.Batch) error {
	b.Release()
	return nil
}

// TestCallsStayInTheBudget has a server that counts the calls of 40 partitions in each
// period of the budget.
func TestCallsStayInTheBudget(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	var calls []time.Time
	server := network(t, func(w http.ResponseWriter, _ *http.Request) {
		calls = append(calls, clock.Now())
		clock.Advance(700 * time.Millisecond)
		_, _ = fmt.Fprint(w, `{"rows":[]}`)
	})
	parts := make([]string, 40)
	for i := range parts {
		parts[i] = fmt.Sprint(i)
	}
	s := source(t, server, "budget: {calls: [5/1m, 12/1h]}\npartitions: {fixed: {part: ["+strings.Join(parts, ", ")+"]}}\n", &clock)
	for range 2 { // the budget holds over fetches
		if err := s.Fetch(t.Context(), ingest.Window{}, drop); err != nil {
			t.Fatal(err)
		}
	}
	if len(calls) != 80 {
		t.Errorf("%d calls, want 80", len(calls))
	}
	for n, per := range map[int]time.Duration{5: time.Minute, 12: time.Hour} {
		for i := n; i < len(calls); i++ {
			if got := calls[i].Sub(calls[i-n]); got < per {
				t.Errorf("%d calls in %s, want at most %d in %s", n+1, got, n, per)
			}
		}
	}
}

// TestBudgetEndsFetch checks that a fetch which cannot wait for the budget ends at once, with the results of the
// partitions that were reached.
func TestBudgetEndsFetch(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	server := network(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, one) })
	s := divided{source(t, server, "budget: {calls: 2/1h}\npartitions: {fixed: {part: [a, b, c]}}\n", &clock)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	parts, err := s.Partitions(ctx, ingest.Window{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	stored := 0
	err = s.FetchPartitions(ctx, parts, func(b *ingest.Batch) error {
		for _, result := range b.Partitions {
			got = append(got, result.Key)
		}
		stored += b.Rows()
		return drop(b)
	})
	if !errors.Is(err, budget.ErrUsedUp) {
		t.Errorf("error %v, want that the budget is used up", err)
	}
	if strings.Join(got, " ") != "a b" || stored != 1 {
		t.Errorf("partitions %v and %d readings, want a, b and one", got, stored)
	}
}
