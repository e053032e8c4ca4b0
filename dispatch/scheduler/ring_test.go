package scheduler

import (
	"fmt"
	"testing"
	"time"
)

// Attempts at an endpoint that acknowledges start before 20,000 failing ones, in whatever
// order they arrived.
func TestFailingEndpointsStartLast(t *testing.T) {
	t.Parallel()
	q := newQueue(8, 2048)
	for i := range 20 {
		id := fmt.Sprint("failing", i)
		put(q, id, numbers(0, 1), start.Add(time.Hour))
		q.Next(start)
		q.Done(id, Result{At: start, Took: time.Millisecond})
		put(q, id, numbers(0, 1000), start.Add(time.Hour))
	}
	put(q, "good", numbers(0, 1), start.Add(time.Hour))
	startAll(q, start)
	for q.lane("good").inFlight > 0 {
		q.Done("good", Result{At: start, Took: time.Millisecond, OK: true})
	}
	for id := range q.lanes { // return all attempts in flight to the queue
		for q.lane(id).inFlight > 0 {
			q.Abandon(id)
		}
	}
	put(q, "good", numbers(0, 700), start.Add(time.Hour))
	good := 0
	for range 800 { // one attempt ends, and the next starts
		id, _, ok := q.Next(start)
		if !ok {
			t.Fatal("no attempt starts")
		}
		if id == "good" {
			good++
		}
		q.Done(id, Result{At: start, Took: time.Millisecond, OK: id == "good"})
	}
	if good != 700 {
		t.Errorf("%d of the first 800 attempts went to the quick endpoint, want 700: one in %d may go to another", good, reverseEvery)
	}
}

// Starts at failing endpoints are rate-limited. An acknowledgement removes the limit.
func TestStartsAtFailingEndpointsAreLimited(t *testing.T) {
	t.Parallel()
	q := New[int](Limits{Lane: 8, All: 2048, Timeout: 5 * time.Second, FailingStarts: 100})
	put(q, "failing", []int{0}, start.Add(time.Hour))
	q.Next(start)
	q.Done("failing", Result{At: start, Took: time.Millisecond})
	put(q, "failing", numbers(0, 20_000), start.Add(time.Hour))
	begun, now := 0, start
	for now.Before(start.Add(10 * time.Second)) {
		for id, n := range startAll(q, now) {
			begun += n
			for range n {
				q.Done(id, Result{At: now, Took: time.Millisecond})
			}
		}
		at := q.NextStart(now)
		if at.IsZero() {
			t.Fatal("NextStart returns no time")
		}
		now = at
	}
	if begun < 990 || begun > 1010 {
		t.Errorf("%d attempts in 10 s, want 100 a second", begun)
	}
	startAll(q, now)
	q.Done("failing", Result{At: now, Took: time.Millisecond, OK: true})
	if n := startAll(q, now)["failing"]; n < 7 {
		t.Errorf("%d start after an acknowledgement, want all slots", n)
	}
}

// delayed is a delivery of TestRetriesStartOnTime.
type delayed struct {
	made int
	due  time.Time
}

// retrySchedule is the retry schedule.
var retrySchedule = []time.Duration{10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// An attempt at an endpoint that times out occupies a slot for 5 s. While there are
// slots, each retry starts within 2 s of its due time and never before.
func TestRetriesStartOnTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits Limits
		n      int
		first  time.Duration // maximum delay of a first attempt
	}{
		"9 with the usual limits":   {Limits{Lane: 8, Host: 16, All: 2048, Unproven: 30, Starts: 1024}, 9, 5 * time.Second},
		"64 with slots for 64":      {Limits{Lane: 64, Host: 64, All: 2048, Starts: 1024}, 64, 0},
		"64 beside a shared host":   {Limits{Lane: 64, Host: 128, All: 2048, Starts: 1024}, 64, 0},
		"64 with a limit for proof": {Limits{Lane: 64, Host: 64, All: 2048, Unproven: 200, Starts: 1024}, 64, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulateTimeouts(t, onHosts(c.limits), c.n, c.first)
		})
	}
}

// simulateTimeouts runs n due deliveries against an endpoint that times out, until all
// have failed.
func simulateTimeouts(t *testing.T, q *Queue[int], n int, first time.Duration) {
	t.Helper()
	const step, slack, id = 10 * time.Millisecond, 2 * time.Second, "down/1"
	all := make([]delayed, n)
	stored := map[int]bool{} // in the store
	for i := range all {
		all[i].due, stored[i] = start, true
	}
	type flight struct {
		item int
		ends time.Time
	}
	var inFlight []flight
	q.Due(id, start)
	for now, failed := start, 0; failed < n; now = now.Add(step) {
		if len(inFlight) == 0 && !q.NextClaim().IsZero() && q.NextClaim().After(now) { // skip idle time
			now = q.NextClaim()
		}
		for len(inFlight) > 0 && !inFlight[0].ends.After(now) {
			d := &all[inFlight[0].item]
			if d.made == len(retrySchedule)+1 {
				failed++
			} else {
				stored[inFlight[0].item] = true
				q.Due(id, d.due)
			}
			q.Done(id, Result{At: now, Took: 5 * time.Second, TimedOut: true})
			inFlight = inFlight[1:]
		}
		for _, c := range q.Claims(now) {
			var found []int
			next := time.Time{}
			for i := range all {
				switch {
				case !stored[i]:
				case !all[i].due.After(now) && len(found) < c.Limit:
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
			if d.made < len(retrySchedule) {
				d.due = now.Add(retrySchedule[d.made])
			}
			d.made++
			inFlight = append(inFlight, flight{item, now.Add(5 * time.Second)})
			if len(inFlight) > q.limits.Lane {
				t.Fatalf("%d are in flight, more than %d", len(inFlight), q.limits.Lane)
			}
		}
		for _, item := range q.Expired() {
			t.Fatalf("delivery %d was leased and could not start", item)
		}
	}
}
