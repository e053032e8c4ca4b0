package scheduler

import (
	"fmt"
	"testing"
	"time"
)

// 20,000 deliveries of another account fail at once when they are tried. Attempts at
// an endpoint that acknowledges start before them, whatever the order in which they came.
func TestFailingEndpointsYield(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 2048)
	for i := range 20 {
		id := fmt.Sprint("failing", i)
		put(q, id, numbers(0, 1), start.Add(time.Hour))
		q.Next(start)
		q.Done(id, Ended{At: start, Took: time.Millisecond})
		put(q, id, numbers(0, 1000), start.Add(time.Hour))
	}
	put(q, "good", numbers(0, 1), start.Add(time.Hour))
	takeAll(q, start)
	for q.lane("good").flying > 0 {
		q.Done("good", Ended{At: start, Took: time.Millisecond, OK: true})
	}
	for id := range q.lanes { // nothing is in flight, everything waits
		for q.lane(id).flying > 0 {
			q.Abandon(id)
		}
	}
	put(q, "good", numbers(0, 700), start.Add(time.Hour))
	good := 0
	for range 800 { // one attempt ends, and the next starts
		id, _, ok := q.Next(start)
		if !ok {
			t.Fatal("nothing starts")
		}
		if id == "good" {
			good++
		}
		q.Done(id, Ended{At: start, Took: time.Millisecond, OK: id == "good"})
	}
	if good != 700 {
		t.Errorf("%d of the first 800 attempts are of the endpoint that acknowledges, want its 700: one in %d is another's", good, lastFirst)
	}
}

// The rate of attempts at failing endpoints is bounded, and an endpoint leaves the bound
// with its first acknowledgement.
func TestStartsAtFailingEndpointsAreFew(t *testing.T) {
	t.Parallel()
	q := New[int](Limits{Lane: 8, All: 2048, Timeout: 5 * time.Second, FailingStarts: 100})
	put(q, "failing", []int{0}, start.Add(time.Hour))
	q.Next(start)
	q.Done("failing", Ended{At: start, Took: time.Millisecond})
	put(q, "failing", numbers(0, 20_000), start.Add(time.Hour))
	begun, now := 0, start
	for now.Before(start.Add(10 * time.Second)) {
		for id, n := range takeAll(q, now) {
			begun += n
			for range n {
				q.Done(id, Ended{At: now, Took: time.Millisecond})
			}
		}
		at := q.Paced(now)
		if at.IsZero() {
			t.Fatal("nothing says when the next may start")
		}
		now = at
	}
	if begun < 990 || begun > 1010 {
		t.Errorf("%d attempts in 10 s, want 100 a second", begun)
	}
	takeAll(q, now)
	q.Done("failing", Ended{At: now, Took: time.Millisecond, OK: true})
	if n := takeAll(q, now)["failing"]; n < 7 {
		t.Errorf("%d start after an acknowledgement, want all slots", n)
	}
}

// delayed is a delivery of the simulation of TestDueAttemptsAtAHangingEndpointAreInTime.
type delayed struct {
	made int
	due  time.Time
}

// table is that of spec 6.4.
var table = []time.Duration{10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// An attempt at an endpoint that answers nothing holds its slot for 5 s. As long as
// there are slots for the attempts that are due, each starts within 2 s of its time and
// never before it.
func TestDueAttemptsAtAHangingEndpointAreInTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits Limits
		n      int
		first  time.Duration // the longest that a first attempt waits
	}{
		"9 with the usual limits":   {Limits{Lane: 8, Host: 16, All: 2048, Unproven: 30, Starts: 1024}, 9, 5 * time.Second},
		"64 with slots for 64":      {Limits{Lane: 64, Host: 64, All: 2048, Starts: 1024}, 64, 0},
		"64 beside a shared host":   {Limits{Lane: 64, Host: 128, All: 2048, Starts: 1024}, 64, 0},
		"64 with a limit for proof": {Limits{Lane: 64, Host: 64, All: 2048, Unproven: 200, Starts: 1024}, 64, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hang(t, onHosts(c.limits), c.n, c.first)
		})
	}
}

// hang lets an endpoint hang with n deliveries that are due at once, until all have
// failed.
func hang(t *testing.T, q *Queue[int], n int, first time.Duration) {
	t.Helper()
	const step, slack, id = 10 * time.Millisecond, 2 * time.Second, "down/1"
	all := make([]delayed, n)
	stored := map[int]bool{} // waits in the store
	for i := range all {
		all[i].due, stored[i] = start, true
	}
	type flight struct {
		item int
		ends time.Time
	}
	var flying []flight
	q.Due(id, start)
	for now, failed := start, 0; failed < n; now = now.Add(step) {
		if len(flying) == 0 && !q.Wake().IsZero() && q.Wake().After(now) { // nothing happens until then
			now = q.Wake()
		}
		for len(flying) > 0 && !flying[0].ends.After(now) {
			d := &all[flying[0].item]
			if d.made == len(table)+1 {
				failed++
			} else {
				stored[flying[0].item] = true
				q.Due(id, d.due)
			}
			q.Done(id, Ended{At: now, Took: 5 * time.Second, TimedOut: true})
			flying = flying[1:]
		}
		for _, c := range q.Claims(now) {
			var found []int
			next := time.Time{}
			for i := range all {
				switch {
				case !stored[i]:
				case !all[i].due.After(now) && len(found) < c.Most:
					found, stored[i] = append(found, i), false
				default:
					next = earlier(next, all[i].due)
				}
			}
			q.Claimed(c, found, now.Add(12*time.Second), next)
		}
		for {
			_, item, ok := q.Next(now)
			if !ok {
				break
			}
			d := &all[item]
			late, most := now.Sub(d.due), slack
			if d.made == 0 {
				most += first
			}
			if late < 0 || late > most {
				t.Fatalf("attempt %d starts %s after it is due, want 0 to %s", d.made+1, late, most)
			}
			if d.made < len(table) {
				d.due = now.Add(table[d.made])
			}
			d.made++
			flying = append(flying, flight{item, now.Add(5 * time.Second)})
			if len(flying) > q.limits.Lane {
				t.Fatalf("%d are in flight, more than %d", len(flying), q.limits.Lane)
			}
		}
		for _, item := range q.Expired() {
			t.Fatalf("delivery %d was leased and could not start", item)
		}
	}
}
