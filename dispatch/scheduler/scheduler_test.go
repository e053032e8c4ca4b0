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

// numbers are the items from up to but without to.
func numbers(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// put adds items to a lane as a claim would.
func put(q *Queue[int], id string, items []int, until time.Time) {
	q.lane(id).coming += len(items)
	q.Add(id, items, until)
}

// takeAll begins everything that may begin, and counts it by lane.
func takeAll(q *Queue[int], now time.Time) map[string]int {
	begun := map[string]int{}
	for {
		id, _, ok := q.Next(now)
		if !ok {
			return begun
		}
		begun[id]++
	}
}

// Time-outs do not narrow a lane: attempts at an endpoint that hangs start when they are
// due, and not one after the other.
func TestALaneHasItsSlotsHoweverItAnswers(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	put(q, "a", numbers(0, 200), start.Add(time.Hour))
	for _, how := range []Ended{{Took: time.Millisecond, OK: true}, {Took: 5 * time.Second, TimedOut: true}, {Took: time.Millisecond}} {
		takeAll(q, start)
		if got := q.lane("a").flying; got != 8 {
			t.Errorf("%d are in flight before %+v, want all 8 slots", got, how)
		}
		for range 8 {
			q.Done("a", how)
		}
	}
}

// A thousand endpoints hang and fill all room that there is for them; one that
// answers goes on.
func TestWhoAnswersFindsRoomBesideAThousandThatDoNot(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 400)
	put(q, "good", numbers(0, 1000), start.Add(time.Hour))
	for range 8 {
		q.Next(start)
		q.Done("good", Ended{At: start, Took: time.Millisecond, OK: true})
	}
	for i := range 1000 {
		put(q, fmt.Sprint("dead", i), numbers(0, 2), start.Add(time.Hour))
	}
	begun := takeAll(q, start)
	dead := 0
	for id, n := range begun {
		if id != "good" {
			dead += n
		}
	}
	if begun["good"] != 8 || dead != 300 {
		t.Errorf("%d of the good one and %d of the dead ones are under way, want 8 and 300", begun["good"], dead)
	}
	q.Done("good", Ended{At: start, Took: time.Millisecond, OK: true})
	if id, _, ok := q.Next(start); !ok || id != "good" {
		t.Errorf("the next is of %q, want good", id)
	}
}

// Five thousand endpoints have timed out and want more; one that nobody has tried
// goes first, and so does one that has only just begun to answer.
func TestWhoIsUntriedFindsRoomBesideThousandsThatAreSlow(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 400)
	for i := range 5000 {
		id := fmt.Sprint("dead", i)
		put(q, id, numbers(0, 1), start.Add(time.Hour))
		q.Next(start)
		q.Done(id, Ended{At: start, Took: 5 * time.Second, TimedOut: true})
		q.Due(id, start)
	}
	held := 0
	for claims := q.Claims(start); len(claims) > 0; claims = q.Claims(start) {
		for _, c := range claims {
			held += c.Most
			q.Claimed(c, numbers(0, c.Most), start.Add(time.Hour), start)
		}
		takeAll(q, start)
	}
	if _, _, flying := q.Size(); held != 200 || flying != 200 {
		t.Errorf("of the slow %d are held and %d under way, want half of all slots, 200", held, flying)
	}
	if n := q.Reserve("new", 1, start); n != 1 {
		t.Fatal("there is no room for an endpoint that nobody has tried")
	}
	q.Add("new", []int{7}, start.Add(12*time.Second))
	if id, _, ok := q.Next(start); !ok || id != "new" {
		t.Errorf("the next is of %q, want new", id)
	}
}

// Endpoints that are not quick are called one after the other, and those that
// are do not wait for that.
func TestStartsAreSpreadOverTime(t *testing.T) {
	t.Parallel()
	q := New[int](Limits{Lane: 8, All: 400, Timeout: 5 * time.Second, Starts: 200})
	for i := range 100 {
		put(q, fmt.Sprint("new", i), []int{i}, start.Add(time.Hour))
	}
	begun, now := 0, start
	for at := start; begun < 100; at = q.Paced(now) {
		if at.IsZero() {
			t.Fatalf("%d of 100 were begun, and then never another", begun)
		}
		now = at
		for _, n := range takeAll(q, now) {
			begun += n
		}
	}
	if got, want := now.Sub(start), 490*time.Millisecond; got < want || got > want+10*time.Millisecond {
		t.Errorf("100 attempts began within %s, want %s at 200 a second", got, want)
	}
	put(q, "quick", []int{1}, start.Add(time.Hour))
	takeAll(q, now.Add(time.Second))
	q.Done("quick", Ended{At: start, Took: time.Millisecond, OK: true})
	put(q, "quick", numbers(0, 3), start.Add(time.Hour))
	if n := takeAll(q, now.Add(time.Second))["quick"]; n != 3 {
		t.Errorf("%d of a quick one began at once, want 3", n)
	}
}

// Who answers, but slowly, holds slots as those do who do not answer.
func TestSlowAnswersDoNotFillAllRoom(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 400)
	for i := range 300 {
		id := fmt.Sprint("slow", i)
		for range 8 {
			put(q, id, numbers(0, 1), start.Add(time.Hour))
			q.Next(start)
			q.Done(id, Ended{At: start, Took: 4900 * time.Millisecond, OK: true})
		}
		put(q, id, numbers(0, 8), start.Add(time.Hour))
	}
	takeAll(q, start)
	if _, _, flying := q.Size(); flying != 200 {
		t.Errorf("%d slow ones are under way, want half of all slots, 200", flying)
	}
}

// Of lanes that are due, none comes again before all others have come.
func TestClaimsTakeTurns(t *testing.T) {
	t.Parallel()
	q := newQueue(1, 4)
	for i := range 20 {
		id := fmt.Sprint("dead", i)
		q.Due(id, start.Add(-time.Duration(20-i)*time.Hour)) // the first is the oldest by far
		q.Suspect(id)
	}
	asked := map[string]int{}
	for now := start; len(asked) < 20; now = now.Add(time.Second) {
		claims := q.Claims(now)
		if len(claims) == 0 {
			t.Fatalf("nothing is asked for although %d lanes have not had their turn", 20-len(asked))
		}
		for _, c := range claims {
			if asked[c.Lane]++; asked[c.Lane] > 1 {
				t.Fatalf("%s is asked for again after %d of 20", c.Lane, len(asked))
			}
			q.Claimed(c, []int{1}, now.Add(time.Hour), start.Add(-time.Hour))
			takeAll(q, now)
			q.Done(c.Lane, Ended{At: start, Took: 5 * time.Second, TimedOut: true})
		}
	}
}

func TestEndpointsThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	for _, id := range []string{"gone", "busy", "there"} {
		put(q, id, numbers(0, 1), start.Add(time.Hour))
		q.Next(start)
	}
	q.Done("gone", Ended{At: start, Took: time.Millisecond, OK: true})
	q.Done("there", Ended{At: start, Took: time.Millisecond, OK: true})
	q.Keep(func(id string) bool { return id == "there" })
	if lanes, _, _ := q.Size(); lanes != 2 || q.lanes["gone"] != nil {
		t.Errorf("%d lanes are left, want the one that is there and the one that is busy", lanes)
	}
}

// Lanes take turns, whatever one of them holds.
func TestLanesTakeTurns(t *testing.T) {
	t.Parallel()
	q := newQueue(1, 2)
	put(q, "many", numbers(0, 500), start.Add(time.Hour))
	put(q, "few", numbers(0, 3), start.Add(time.Hour))
	begun := map[string]int{}
	for range 6 {
		for id, n := range takeAll(q, start) {
			begun[id] += n
			q.Done(id, Ended{At: start, Took: time.Second, OK: true})
		}
	}
	if begun["few"] != 3 {
		t.Errorf("%d of the short lane were begun in six rounds, want all 3", begun["few"])
	}
}

func TestNothingBeginsOnAShortLease(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 10)
	put(q, "a", numbers(0, 3), start.Add(6*time.Second))
	put(q, "a", numbers(3, 4), start.Add(8*time.Second))
	_, got, ok := q.Next(start)
	if !ok || got != 3 {
		t.Errorf("Next is %d, %v; want 3, whose lease leaves the 7 s of an attempt", got, ok)
	}
	if got := q.Expired(); len(got) != 3 {
		t.Errorf("%v are to be given back, want 0, 1 and 2", got)
	}
}

func TestAFailingLaneAsksForLittleAndAFastOneForMuch(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	q.Due("slow", start)
	q.Due("fast", start)
	for range 40 {
		put(q, "slow", []int{1}, start.Add(time.Hour))
		put(q, "fast", []int{1}, start.Add(time.Hour))
		takeAll(q, start)
		q.Done("slow", Ended{At: start, Took: 5 * time.Second, TimedOut: true})
		q.Done("fast", Ended{At: start, Took: time.Millisecond, OK: true})
	}
	asked := map[string]int{}
	for _, c := range q.Claims(start) {
		asked[c.Lane] = c.Most
	}
	if asked["slow"] != 8 || asked["fast"] != mostOfLane {
		t.Errorf("asked for %v, want 8 of the slow and %d of the fast lane", asked, mostOfLane)
	}
}

func TestClaimsComeWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	if !q.Wake().IsZero() {
		t.Error("an empty queue wants to be woken")
	}
	q.Due("b", start.Add(30*time.Second))
	q.Due("a", start.Add(10*time.Second))
	q.Due("a", start.Add(20*time.Second)) // later than what is known
	if got, want := q.Wake(), start.Add(10*time.Second); !got.Equal(want) {
		t.Errorf("Wake is %s, want %s", got, want)
	}
	if got := q.Claims(start.Add(9 * time.Second)); len(got) > 0 {
		t.Errorf("%v is asked for before it is due", got)
	}
	claims := q.Claims(start.Add(10 * time.Second))
	if len(claims) != 1 || claims[0].Lane != "a" {
		t.Fatalf("asked for %v, want a alone", claims)
	}
	if got := q.Claims(start.Add(10 * time.Second)); len(got) > 0 {
		t.Errorf("%v is asked for twice", got)
	}
	q.Claimed(claims[0], []int{7}, start.Add(time.Minute), start.Add(40*time.Second))
	if got, want := q.Wake(), start.Add(30*time.Second); !got.Equal(want) {
		t.Errorf("Wake is %s, want that of b, %s", got, want)
	}
}

func TestNewItemsDoNotOvertakeThoseInTheStore(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 100)
	if got := q.Reserve("a", 1, start); got != 1 {
		t.Errorf("an idle lane has room for %d, want 1", got)
	}
	q.Unreserve("a", 1)
	q.Due("a", start.Add(-time.Second))
	if got := q.Reserve("a", 1, start); got != 0 {
		t.Errorf("behind older ones there is room for %d, want none", got)
	}
	c := q.Claims(start)
	q.Claimed(c[0], nil, start, start.Add(10*time.Second)) // a retry to come is no older one
	if got := q.Reserve("a", 1, start); got != 1 {
		t.Errorf("before a retry there is room for %d, want 1", got)
	}
}

func TestDrainLeavesNothing(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 10)
	put(q, "a", numbers(0, 30), start.Add(time.Hour))
	put(q, "b", numbers(30, 50), start.Add(time.Second))
	begun := takeAll(q, start)
	if got := len(q.Drain()) + begun["a"]; got != 50 {
		t.Errorf("%d items came back or were begun, want 50", got)
	}
	if _, waiting, flying := q.Size(); waiting != 0 || flying != begun["a"] {
		t.Errorf("after that %d wait and %d are under way", waiting, flying)
	}
}
