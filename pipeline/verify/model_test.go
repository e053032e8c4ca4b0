package verify

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/fixture"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// faultyBank makes a deposit for every request that arrives. Its answers are true, if they
// arrive. It records all deposits.
type faultyBank struct {
	mu     sync.Mutex
	dice   *rand.Rand
	clock  *fixture.Clock
	made   map[string]int
	came   map[string]time.Time // arrival times of slow requests
	faulty bool
	dead   chan struct{} // calls of a process that was killed end when it is closed
	killed int           // calls of this process without an end
	before int           // those of earlier processes
}

// slowest is the longest delay of a request. It is below the connection's ResendAfter.
const slowest = 50 * time.Second

// arrive makes the deposits of slow requests that have arrived. The caller holds mu.
func (n *faultyBank) arrive() {
	for ref, at := range n.came {
		if !n.clock.Now().Before(at) {
			n.made[ref]++
			delete(n.came, ref)
		}
	}
}

func (n *faultyBank) deposit(o bank.Order) (bank.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.arrive()
	fault := 0
	if n.faulty {
		fault = n.dice.IntN(10)
	}
	switch fault {
	case 1:
		return bank.Answer{}, errUnsent
	case 2:
		return bank.Answer{}, errBreaker
	case 3:
		return bank.Answer{Outcome: bank.NotMade}, nil
	case 4: // the request is lost
		return bank.Answer{}, errLost
	case 5: // the request is slow
		n.came[o.Reference] = n.clock.Now().Add(time.Duration(n.dice.Int64N(int64(slowest))))
		return bank.Answer{}, errLost
	}
	n.made[o.Reference]++
	switch fault {
	case 6: // the answer is lost
		return bank.Answer{}, errLost
	case 7:
		panic("the adapter")
	case 8:
		return bank.Answer{Outcome: bank.Pending}, nil
	case 9: // the process is killed
		n.killed++
		n.mu.Unlock()
		<-n.dead
		n.mu.Lock()
	}
	return foundAnswer("RAHUL SHARMA"), nil
}

func (n *faultyBank) enquire(o bank.Order) (bank.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.arrive()
	if n.faulty {
		switch n.dice.IntN(6) {
		case 0:
			return bank.Answer{}, errLost
		case 1:
			return bank.Answer{}, errBreaker
		case 2:
			return bank.Answer{Outcome: 42}, nil
		}
	}
	if n.made[o.Reference] == 0 {
		return bank.Answer{Outcome: bank.Unknown}, nil
	}
	return foundAnswer("RAHUL SHARMA"), nil
}

// One request makes one deposit and ends with one event, whatever faults bank, network and
// service have.
func TestModelMakesOneDepositPerRequest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		eachStore(t, func(t *testing.T, s *serviceFixture) { runModel(t, s, seed) })
	}
}

func runModel(t *testing.T, s *serviceFixture, seed uint64) {
	t.Helper()
	const rounds = 60
	faulty := &faultyBank{dice: rand.New(rand.NewPCG(seed, 1)), clock: s.clock, made: map[string]int{}, came: map[string]time.Time{}, faulty: true, dead: make(chan struct{})}
	s.bank.set(func() { s.bank.deposit, s.bank.enquire = faulty.deposit, faulty.enquire })
	moves := rand.New(rand.NewPCG(seed, 2)) // independent of the bank's faults
	var services []*Service
	for round := range rounds {
		if round < rounds*2/3 { // the last third only continues pending verifications
			if _, _, err := s.Do(t.Context(), s.request(), 0, true); err != nil {
				t.Fatal(err)
			}
		}
		s.clock.Advance(time.Duration(1+moves.IntN(30)) * time.Second)
		s.Queue.Poll(t.Context(), s.connections[0].Pool)
		if !s.isIdle(faulty) || round%10 == 9 { // a killed process leaves calls in flight
			services = append(services, s.Service)
			s.begin(s.DB)
			faulty.next()
			if err := s.Queue.ExpireForeignLeases(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	faulty.mu.Lock()
	faulty.faulty = false
	faulty.mu.Unlock()
	for range 60 {
		s.advance(time.Minute)
	}
	close(faulty.dead) // the calls of killed processes end
	for _, each := range services {
		each.Queue.Wait()
	}
	twice := maps.Clone(faulty.made)
	maps.DeleteFunc(twice, func(_ string, n int) bool { return n == 1 })
	if len(twice) != 0 {
		t.Errorf("seed %d: deposits were made not once: %v", seed, twice)
	}
	all := s.texts("SELECT state FROM verification WHERE account_id = $1", s.owner.Account)
	if diff := cmp.Diff(slices.Repeat([]string{string(schema.VerificationSuccess)}, len(faulty.made)), all); diff != "" {
		t.Errorf("seed %d: the verifications (-want +got):\n%s", seed, diff)
	}
	if got := len(s.events()); got != len(faulty.made) {
		t.Errorf("seed %d: the store has %d events for %d deposits", seed, got, len(faulty.made))
	}
	if faulty.killed == 0 || len(faulty.made) < 20 {
		t.Errorf("seed %d: %d calls were killed, %d deposits made: it is no test", seed, faulty.killed, len(faulty.made))
	}
}

// next starts another process.
func (n *faultyBank) next() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before = n.killed
}

// hanging returns the number of calls of this process without an end.
func (n *faultyBank) hanging() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.killed - n.before
}

// isIdle waits for all calls except hanging ones, and reports whether none hangs.
func (s *serviceFixture) isIdle(faulty *faultyBank) bool {
	s.t.Helper()
	fixture.Eventually(s.t, "all calls rest", func() bool { return s.connections[0].Slots().InFlight == faulty.hanging() })
	return faulty.hanging() == 0
}
