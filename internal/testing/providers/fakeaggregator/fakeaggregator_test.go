package fakeaggregator_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakeaggregator"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/connector"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

func connect(t *testing.T, s *fakeaggregator.Simulator) order.Connection {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "simulator.yaml")
	if err := os.WriteFile(file, []byte(fakeaggregator.Describe(server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := connector.Open(file, httpconnector.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newOrder(reference string) order.Order {
	return order.Order{Reference: reference, Type: schema.Prepaid, Number: "9812345678", Operator: "Airtel", Amount: 100_00}
}

// A repeated order is carried out once, unless the simulator is naive.
func TestReferencesAreIdempotent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		naive bool
		want  int
	}{"normal": {false, 1}, "naive": {true, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakeaggregator.New(providers.Config{Naive: tc.naive})
			c := connect(t, s)
			for range 3 {
				a, err := c.Operator.Submit(t.Context(), newOrder("a"))
				if err != nil {
					t.Fatal(err)
				}
				if a.Outcome != order.Succeeded {
					t.Fatalf("the outcome is %v, want %v", a.Outcome, order.Succeeded)
				}
			}
			if diff := cmp.Diff(map[string]int{"a": tc.want}, s.Effects()); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if got := len(s.Ledger()); got != tc.want {
				t.Errorf("the ledger has %d entries, want %d", got, tc.want)
			}
		})
	}
}

// Faults have the configured rates, and are the same in every run.
func TestFaultRatesAreReproducible(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) map[string]int {
		s := fakeaggregator.New(providers.Config{Seed: seed, Rates: map[providers.Fault]float64{fakeaggregator.Refuse: 0.3, fakeaggregator.LieFailed: 0.2}})
		c := connect(t, s)
		for i := range 300 {
			if _, err := c.Operator.Submit(t.Context(), newOrder("r"+string(rune('a'+i%26))+strings.Repeat("x", i/26))); err != nil {
				t.Fatal(err)
			}
		}
		return s.Effects()
	}
	first := run(7)
	carried := 0
	for _, n := range first {
		carried += n
	}
	if carried < 180 || carried > 240 { // 210, and four deviations of eight
		t.Errorf("%d of 300 were carried out, want about 210", carried)
	}
	if !maps.Equal(first, run(7)) {
		t.Error("two runs with the same seed differ")
	}
	if maps.Equal(first, run(8)) {
		t.Error("two runs with different seeds are equal")
	}
}

// Only requests with the key and a valid signature are served.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	s := fakeaggregator.New(providers.Config{})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	resp, err := http.Post(server.URL+"/v1/orders", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a request without a key: got %d, want %d", resp.StatusCode, http.StatusUnauthorized)
	}
	c := connect(t, fakeaggregator.New(providers.Config{Now: func() time.Time { return time.Now().Add(time.Hour) }}))
	if a, err := c.Operator.Submit(t.Context(), newOrder("a")); err == nil {
		t.Errorf("a signature that is an hour old: got %v", a)
	}
}

// A callback is retried until it is acknowledged, and a duplicate one is sent twice.
func TestCallbacksAreRetried(t *testing.T) {
	t.Parallel()
	came := make(chan string, 10)
	var mu sync.Mutex
	refused := 0
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if refused < 2 {
			refused++
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		came <- string(body)
	}))
	t.Cleanup(endpoint.Close)
	s := fakeaggregator.New(providers.Config{Callback: endpoint.URL})
	c := connect(t, s)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Callbacks.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	s.Dice.Script("9812345678", fakeaggregator.Duplicate)
	if _, err := c.Operator.Submit(t.Context(), newOrder("a")); err != nil {
		t.Fatal(err)
	}
	got := []string{<-came, <-came}
	stop()
	all.Wait()
	if got[0] != got[1] {
		t.Errorf("the callbacks differ: %q", got)
	}
	if want := `"order_ref":"a","status":"SUCCESS"`; !strings.Contains(got[0], want) {
		t.Errorf("the callback is %q, want it to contain %q", got[0], want)
	}
	if got := s.Effects()["a"]; got != 1 {
		t.Errorf("the order was carried out %d times, want once", got)
	}
}

// Every fault is in the list once, as other tests require.
func TestEveryFaultIsListed(t *testing.T) {
	t.Parallel()
	if got := len(fakeaggregator.Faults); got != 12 {
		t.Errorf("%d faults are listed, want 12", got)
	}
	if got := slices.Compact(slices.Sorted(slices.Values(fakeaggregator.Faults))); len(got) != len(fakeaggregator.Faults) {
		t.Errorf("a fault is listed twice: %v", fakeaggregator.Faults)
	}
}
