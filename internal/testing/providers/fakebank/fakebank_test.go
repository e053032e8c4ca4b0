package fakebank_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/fixture"
	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakebank"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/connector"
	"vayu/schema"
)

func connect(t *testing.T, s *fakebank.Simulator) bank.Connection {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "simulator.yaml")
	if err := os.WriteFile(file, []byte(fakebank.Describe(server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := connector.Open(file, httpconnector.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func drop(reference string) bank.Order {
	return bank.Order{Reference: reference, Method: schema.VerifyPennyDrop, Account: "123456789", IFSC: "SBIN0000691"}
}

// A repeated order makes one deposit, unless the simulator is naive.
func TestReferenceIsIdempotent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		naive bool
		want  int
	}{"normal": {false, 1}, "naive": {true, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakebank.New(providers.Config{Naive: tc.naive})
			c := connect(t, s)
			for range 3 {
				a, err := c.Bank.Deposit(t.Context(), drop("a"))
				if err != nil {
					t.Fatal(err)
				}
				if a.Outcome != bank.Found {
					t.Fatalf("the outcome is %v, want %v", a.Outcome, bank.Found)
				}
				if _, err := c.Bank.Enquire(t.Context(), drop("a")); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(map[string]int{"a": tc.want}, s.Deposits()); diff != "" {
				t.Errorf("deposits (-want +got):\n%s", diff)
			}
		})
	}
}

// A late deposit is requested twice. A naive simulator makes both when they are due.
func TestNaiveSimulatorRepeatsLateDeposits(t *testing.T) {
	t.Parallel()
	for fault, want := range map[providers.Fault]int{fakebank.Late: 2, fakebank.LateMissing: 0, fakebank.LieForever: 2, fakebank.Missing: 0} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			clock := &fixture.Clock{}
			clock.Set(time.Now())
			s := fakebank.New(providers.Config{Naive: true, Late: time.Second, Now: clock.Now})
			c := connect(t, s)
			s.Dice.Script("a", fault)
			for range 2 {
				if _, err := c.Bank.Deposit(t.Context(), drop("a")); err != nil {
					t.Fatal(err)
				}
			}
			clock.Advance(time.Second)
			if _, err := c.Bank.Enquire(t.Context(), drop("a")); err != nil {
				t.Fatal(err)
			}
			if got := s.Deposits()["a"]; got != want {
				t.Errorf("%d deposits were made, want %d", got, want)
			}
		})
	}
}

// An unavailable bank makes the deposit on the next request.
func TestUnavailableDepositIsRetried(t *testing.T) {
	t.Parallel()
	s := fakebank.New(providers.Config{})
	c := connect(t, s)
	s.Dice.Script("a", fakebank.Away, fakebank.Away)
	var got []bank.Outcome
	for range 4 {
		a, err := c.Bank.Deposit(t.Context(), drop("a"))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, a.Outcome)
	}
	if diff := cmp.Diff([]bank.Outcome{bank.NotMade, bank.NotMade, bank.Found, bank.Found}, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if made := s.Deposits()["a"]; made != 1 {
		t.Errorf("%d deposits were made, want 1", made)
	}
}

// Faults have the configured rate and are reproducible.
func TestRatesAreReproducible(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) map[string]int {
		s := fakebank.New(providers.Config{Seed: seed, Rates: map[providers.Fault]float64{fakebank.Missing: 0.3, fakebank.LieMissing: 0.2}})
		c := connect(t, s)
		for i := range 300 {
			if _, err := c.Bank.Deposit(t.Context(), drop("r"+strconv.Itoa(i))); err != nil {
				t.Fatal(err)
			}
		}
		return s.Deposits()
	}
	first := run(7)
	made := 0
	for _, n := range first {
		made += n
	}
	if made < 180 || made > 240 { // 210, and four deviations of eight
		t.Errorf("%d of 300 deposits were made, want about 210", made)
	}
	if !maps.Equal(first, run(7)) {
		t.Error("two runs with the same seed differ")
	}
	if maps.Equal(first, run(8)) {
		t.Error("two runs with different seeds are equal")
	}
}

// Noise affects enquiries only.
func TestNoise(t *testing.T) {
	t.Parallel()
	s := fakebank.New(providers.Config{Noise: 1})
	c := connect(t, s)
	a, err := c.Bank.Deposit(t.Context(), drop("a"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Outcome != bank.Found {
		t.Errorf("the outcome is %v, want %v", a.Outcome, bank.Found)
	}
	for range 10 {
		if a, err := c.Bank.Enquire(t.Context(), drop("a")); err == nil {
			t.Errorf("an enquiry is answered with %v", a)
		}
	}
}

// A request needs the key, the signature and its fields.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	s := fakebank.New(providers.Config{})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	resp, err := http.Post(server.URL+"/v1/deposits", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a request without a key: got %d, want %d", resp.StatusCode, http.StatusUnauthorized)
	}
	c := connect(t, fakebank.New(providers.Config{Now: func() time.Time { return time.Now().Add(time.Hour) }}))
	if a, err := c.Bank.Deposit(t.Context(), drop("a")); err == nil {
		t.Errorf("a signature that is an hour old: got %v", a)
	}
	incomplete := drop("a")
	incomplete.Account = ""
	if a, err := connect(t, s).Bank.Deposit(t.Context(), incomplete); err == nil {
		t.Errorf("an order for no account: got %v", a)
	}
}

// A callback is retried until acknowledged, and a duplicate is sent twice.
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
	s := fakebank.New(providers.Config{Callback: endpoint.URL})
	c := connect(t, s)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Callbacks.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	s.Dice.Script("123456789", fakebank.Duplicate)
	if _, err := c.Bank.Deposit(t.Context(), drop("a")); err != nil {
		t.Fatal(err)
	}
	got := []string{<-came, <-came}
	stop()
	all.Wait()
	if got[0] != got[1] {
		t.Errorf("the callbacks differ: %q", got)
	}
	if want := `"ref":"a","result":"VALID"`; !strings.Contains(got[0], want) {
		t.Errorf("the callback is %q, want it to contain %q", got[0], want)
	}
	if made := s.Deposits()["a"]; made != 1 {
		t.Errorf("%d deposits were made, want 1", made)
	}
}

// Every fault is in the list once.
func TestEveryFaultIsListed(t *testing.T) {
	t.Parallel()
	if got := len(fakebank.Faults); got != 16 {
		t.Errorf("%d faults are listed, want 16", got)
	}
	if got := slices.Compact(slices.Sorted(slices.Values(fakebank.Faults))); len(got) != len(fakebank.Faults) {
		t.Errorf("a fault is listed twice: %v", fakebank.Faults)
	}
}
