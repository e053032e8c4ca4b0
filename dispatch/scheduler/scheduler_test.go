package scheduler

import (
	"fmt"
	"testing"
	"time"
)

var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func newQueue(lane, all int) *Queue[int] {
	return New[int](Limits{Lane: lane, All: all, Timeout: 5 * time.Second, Margin: 2 * time.Second})
}

// numbers returns the integers from from to to-1.
func numbers(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// put adds items to a lane as a claim does.
func put(q *Queue[int], id string, items []int, until time.Time) {
	q.lane(id).reserved += len(items)
	q.Add(id, items, until)
}

// startAll starts everything that may start and counts it by lane.
func startAll(q *Queue[int], now time.Time) map[string]int {
	begun := map[string]int{}
	for {
		id, _, ok := q.Next(now)
		if !ok {
			return begun
		}
		begun[id]++
	}
}

// Timeouts do not reduce the slots of a lane: retries start when they are due, not one
// after the other.
func TestTimeoutsDoNotReduceSlots(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	put(q, "a", numbers(0, 200), start.Add(time.Hour))
	for _, how := range []Result{{Took: time.Millisecond, OK: true}, {Took: 5 * time.Second, TimedOut: true}, {Took: time.Millisecond}} {
		startAll(q, start)
		if got := q.lane("a").inFlight; got != 8 {
			t.Errorf("%d are in flight before %+v, want all 8 slots", got, how)
		}
		for range 8 {
			q.Done("a", how)
		}
	}
}

// A thousand endpoints time out and use all their slots; a quick one still finds one.
func TestQuickEndpointFindsSlotBesideThousandDead(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 400)
	put(q, "good", numbers(0, 1000), start.Add(time.Hour))
	for range 8 {
		q.Next(start)
		q.Done("good", Result{At: start, Took: time.Millisecond, OK: true})
	}
	for i := range 1000 {
		put(q, fmt.Sprint("dead", i), numbers(0, 2), start.Add(time.Hour))
	}
	begun := startAll(q, start)
	dead := 0
	for id, n := range begun {
		if id != "good" {
			dead += n
		}
	}
	if begun["good"] != 8 || dead != 300 {
		t.Errorf("%d attempts of the good endpoint and %d of the dead ones are in flight, want 8 and 300", begun["good"], dead)
	}
	q.Done("good", Result{At: start, Took: time.Millisecond, OK: true})
	if id, _, ok := q.Next(start); !ok || id != "good" {
		t.Errorf("the next is of %q, %v, want good", id, ok)
	}
}

// An untried endpoint starts before five thousand that timed out, and so does one that
// has just acknowledged.
func TestUntriedEndpointFindsSlotBesideThousandsSlow(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 400)
	for i := range 5000 {
		id := fmt.Sprint("dead", i)
		put(q, id, numbers(0, 1), start.Add(time.Hour))
		q.Next(start)
		q.Done(id, Result{At: start, Took: 5 * time.Second, TimedOut: true})
		q.Due(id, start)
	}
	held := 0
	for claims := q.Claims(start); len(claims) > 0; claims = q.Claims(start) {
		for _, c := range claims {
			held += c.Limit
			q.Claimed(c, numbers(0, c.Limit), start.Add(time.Hour), start)
		}
		startAll(q, start)
	}
	if _, _, inFlight := q.Size(); held != 200 || inFlight != 200 {
		t.Errorf("%d items of slow lanes were claimed and %d are in flight, want half of all slots, 200", held, inFlight)
	}
	if n := q.Reserve("new", 1, start); n != 1 {
		t.Fatal("no item is reserved for an untried endpoint")
	}
	q.Add("new", []int{7}, start.Add(12*time.Second))
	if id, _, ok := q.Next(start); !ok || id != "new" {
		t.Errorf("the next is of %q, %v, want new", id, ok)
	}
}

// Starts at endpoints that are not quick are rate-limited; quick ones are not delayed.
func TestStartsAreRateLimited(t *testing.T) {
	t.Parallel()
	q := New[int](Limits{Lane: 8, All: 400, Timeout: 5 * time.Second, Starts: 200})
	for i := range 100 {
		put(q, fmt.Sprint("new", i), []int{i}, start.Add(time.Hour))
	}
	begun, now := 0, start
	for at := start; begun < 100; at = q.NextStart(now) {
		if at.IsZero() {
			t.Fatalf("%d of 100 attempts started, and NextStart returns no time", begun)
		}
		now = at
		for _, n := range startAll(q, now) {
			begun += n
		}
	}
	if got, want := now.Sub(start), 490*time.Millisecond; got < want || got > want+10*time.Millisecond {
		t.Errorf("100 attempts began within %s, want %s at 200 a second", got, want)
	}
	put(q, "quick", []int{1}, start.Add(time.Hour))
	startAll(q, now.Add(time.Second))
	q.Done("quick", Result{At: start, Took: time.Millisecond, OK: true})
	put(q, "quick", numbers(0, 3), start.Add(time.Hour))
	if n := startAll(q, now.Add(time.Second))["quick"]; n != 3 {
		t.Errorf("%d attempts of a quick endpoint started at once, want 3", n)
	}
}

// A slow acknowledgement occupies slots like a timeout.
func TestSlowEndpointsLeaveSlots(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 400)
	for i := range 300 {
		id := fmt.Sprint("slow", i)
		for range 8 {
			put(q, id, numbers(0, 1), start.Add(time.Hour))
			q.Next(start)
			q.Done(id, Result{At: start, Took: 4900 * time.Millisecond, OK: true})
		}
		put(q, id, numbers(0, 8), start.Add(time.Hour))
	}
	startAll(q, start)
	if _, _, inFlight := q.Size(); inFlight != 200 {
		t.Errorf("%d slow attempts are in flight, want half of all slots, 200", inFlight)
	}
}

// No due lane is claimed twice before all others were claimed once.
func TestClaimsAreRoundRobin(t *testing.T) {
	t.Parallel()
	q := newQueue(1, 4)
	for i := range 20 {
		id := fmt.Sprint("dead", i)
		q.Due(id, start.Add(-time.Duration(20-i)*time.Hour)) // the first is the oldest by far
		q.MarkSlow(id)
	}
	claimed := map[string]int{}
	for now := start; len(claimed) < 20; now = now.Add(time.Second) {
		claims := q.Claims(now)
		if len(claims) == 0 {
			t.Fatalf("no claim, although %d lanes were not claimed", 20-len(claimed))
		}
		for _, c := range claims {
			if claimed[c.Lane]++; claimed[c.Lane] > 1 {
				t.Fatalf("%s is claimed again after %d of 20 lanes", c.Lane, len(claimed))
			}
			q.Claimed(c, []int{1}, now.Add(time.Hour), start.Add(-time.Hour))
			startAll(q, now)
			q.Done(c.Lane, Result{At: start, Took: 5 * time.Second, TimedOut: true})
		}
	}
}

func TestPruneRemovesDeletedEndpoints(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	for _, id := range []string{"gone", "busy", "there"} {
		put(q, id, numbers(0, 1), start.Add(time.Hour))
		q.Next(start)
	}
	q.Done("gone", Result{At: start, Took: time.Millisecond, OK: true})
	q.Done("there", Result{At: start, Took: time.Millisecond, OK: true})
	q.Prune(func(id string) bool { return id == "there" })
	if lanes, _, _ := q.Size(); lanes != 2 {
		t.Errorf("%d lanes remain, want the existing and the busy one", lanes)
	}
	if got := q.lanes["gone"]; got != nil {
		t.Errorf("the lane of the deleted endpoint remains: %+v", got)
	}
}

// Lanes are served round-robin, however many items one has.
func TestNextIsRoundRobin(t *testing.T) {
	t.Parallel()
	q := newQueue(1, 2)
	put(q, "many", numbers(0, 500), start.Add(time.Hour))
	put(q, "few", numbers(0, 3), start.Add(time.Hour))
	begun := map[string]int{}
	for range 6 {
		for id, n := range startAll(q, start) {
			begun[id] += n
			q.Done(id, Result{At: start, Took: time.Second, OK: true})
		}
	}
	if begun["few"] != 3 {
		t.Errorf("%d items of the short lane started in six rounds, want all 3", begun["few"])
	}
}

func TestShortLeaseExpires(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 10)
	put(q, "a", numbers(0, 3), start.Add(6*time.Second))
	put(q, "a", numbers(3, 4), start.Add(8*time.Second))
	_, got, ok := q.Next(start)
	if !ok || got != 3 {
		t.Errorf("Next is %d, %v; want 3, whose lease leaves the 7 s of an attempt", got, ok)
	}
	if got := q.Expired(); len(got) != 3 {
		t.Errorf("%v expired, want 0, 1 and 2", got)
	}
}

func TestClaimSizeFollowsSpeed(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	q.Due("slow", start)
	q.Due("fast", start)
	for range 40 {
		put(q, "slow", []int{1}, start.Add(time.Hour))
		put(q, "fast", []int{1}, start.Add(time.Hour))
		startAll(q, start)
		q.Done("slow", Result{At: start, Took: 5 * time.Second, TimedOut: true})
		q.Done("fast", Result{At: start, Took: time.Millisecond, OK: true})
	}
	claimed := map[string]int{}
	for _, c := range q.Claims(start) {
		claimed[c.Lane] = c.Limit
	}
	if claimed["slow"] != 8 || claimed["fast"] != maxLaneRows {
		t.Errorf("claims are %v, want 8 for the slow and %d for the fast lane", claimed, maxLaneRows)
	}
}

func TestClaimsAreMadeWhenDue(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	if !q.NextClaim().IsZero() {
		t.Error("NextClaim of an empty queue is not zero")
	}
	q.Due("b", start.Add(30*time.Second))
	q.Due("a", start.Add(10*time.Second))
	q.Due("a", start.Add(20*time.Second)) // later than the known time
	if got, want := q.NextClaim(), start.Add(10*time.Second); !got.Equal(want) {
		t.Errorf("NextClaim is %s, want %s", got, want)
	}
	if got := q.Claims(start.Add(9 * time.Second)); len(got) > 0 {
		t.Errorf("%v is claimed before it is due", got)
	}
	claims := q.Claims(start.Add(10 * time.Second))
	if len(claims) != 1 || claims[0].Lane != "a" {
		t.Fatalf("claims are %v, want one for a", claims)
	}
	if got := q.Claims(start.Add(10 * time.Second)); len(got) > 0 {
		t.Errorf("%v is claimed twice", got)
	}
	q.Claimed(claims[0], []int{7}, start.Add(time.Minute), start.Add(40*time.Second))
	if got, want := q.NextClaim(), start.Add(30*time.Second); !got.Equal(want) {
		t.Errorf("NextClaim is %s, want that of b, %s", got, want)
	}
}

func TestReserveYieldsToOlderItems(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	if got := q.Reserve("a", 1, start); got != 1 {
		t.Errorf("Reserve of an idle lane is %d, want 1", got)
	}
	q.Unreserve("a", 1)
	q.Due("a", start.Add(-time.Second))
	if got := q.Reserve("a", 1, start); got != 0 {
		t.Errorf("Reserve behind older items is %d, want 0", got)
	}
	c := q.Claims(start)
	q.Claimed(c[0], nil, start, start.Add(10*time.Second)) // a future retry is not older
	if got := q.Reserve("a", 1, start); got != 1 {
		t.Errorf("Reserve before a future retry is %d, want 1", got)
	}
}

func TestDrainReturnsEverything(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 10)
	put(q, "a", numbers(0, 30), start.Add(time.Hour))
	put(q, "b", numbers(30, 50), start.Add(time.Second))
	begun := startAll(q, start)
	if got := len(q.Drain()) + begun["a"]; got != 50 {
		t.Errorf("%d items were returned or started, want 50", got)
	}
	if _, buffered, inFlight := q.Size(); buffered != 0 || inFlight != begun["a"] {
		t.Errorf("after Drain %d are buffered and %d in flight", buffered, inFlight)
	}
}
