package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// onHosts returns a queue whose lanes are named HOST/N.
func onHosts(l Limits) *Queue[int] {
	l.Timeout, l.Margin = 5*time.Second, 2*time.Second
	l.HostOf = func(id string) string { host, _, _ := strings.Cut(id, "/"); return host }
	return New[int](l)
}

// acknowledge proves a host and makes its lane quick.
func acknowledge(q *Queue[int], id string, now time.Time) {
	put(q, id, []int{0}, now.Add(time.Hour))
	q.Next(now)
	q.Done(id, Result{At: now, Took: time.Millisecond, OK: true})
}

// 2,000 endpoints at one host share 16 slots and do not delay another host.
func TestHostLimitCoversAllItsEndpoints(t *testing.T) {
	t.Parallel()
	q := onHosts(Limits{Lane: 8, Host: 16, All: 2048})
	for i := range 2000 {
		acknowledge(q, fmt.Sprint("victim/", i), start)
	}
	for i := range 2000 {
		put(q, fmt.Sprint("victim/", i), []int{i}, start.Add(time.Hour))
	}
	put(q, "other/1", numbers(0, 8), start.Add(time.Hour))
	begun := startAll(q, start)
	if other := begun["other/1"]; other != 8 || q.inFlight-other != 16 {
		t.Errorf("%d are in flight at the victim and %d at the other host, want 16 and 8", q.inFlight-other, other)
	}
	done := q.inFlight - begun["other/1"]
	for done < 2000 { // each freed slot goes to the next endpoint
		for id := range begun {
			if id == "other/1" {
				continue
			}
			q.Done(id, Result{At: start, Took: time.Millisecond, OK: true})
		}
		begun = startAll(q, start)
		if len(begun) == 0 {
			t.Fatalf("no attempt starts after %d of 2,000", done)
		}
		done += len(begun)
		if at := q.hosts["victim"].totalInFlight(); at > 16 {
			t.Fatalf("%d are in flight at the victim", at)
		}
	}
}

// An endpoint that times out leaves half of its host's slots to others.
func TestSlowEndpointLeavesSlotsOfItsHost(t *testing.T) {
	t.Parallel()
	q := onHosts(Limits{Lane: 8, Host: 16, All: 2048})
	acknowledge(q, "shared/good", start)
	for _, id := range []string{"shared/hangs", "shared/hangs too"} {
		put(q, id, []int{0}, start.Add(time.Hour))
		startAll(q, start)
		q.Done(id, Result{At: start, Took: 5 * time.Second, TimedOut: true})
	}
	put(q, "shared/hangs", numbers(0, 8), start.Add(time.Hour))
	put(q, "shared/hangs too", numbers(0, 8), start.Add(time.Hour))
	if begun := startAll(q, start); begun["shared/hangs"]+begun["shared/hangs too"] != 8 {
		t.Errorf("%v are in flight, want 8 of the two that hang", begun)
	}
	put(q, "shared/good", numbers(0, 8), start.Add(time.Hour))
	if begun := startAll(q, start); begun["shared/good"] != 8 {
		t.Errorf("%d are in flight at the endpoint that answers, want 8", begun["shared/good"])
	}
}

// An unproven host is limited per minute over all accounts, and claims stay within the
// limit. An acknowledgement removes it.
func TestUnprovenHostIsRateLimited(t *testing.T) {
	t.Parallel()
	q := onHosts(Limits{Lane: 8, Host: 16, All: 2048, Unproven: 30})
	for i := range 100 {
		q.Due(fmt.Sprint("victim/", i), start)
	}
	attempts, now := 0, start
	step := func(e Result) {
		for _, c := range q.Claims(now) {
			q.Claimed(c, numbers(0, c.Limit), now.Add(12*time.Second), now)
		}
		for id, n := range startAll(q, now) {
			for range n {
				attempts++
				e.At = now
				q.Done(id, e)
			}
		}
		if n := len(q.Expired()); n > 0 {
			t.Fatalf("%d were claimed and could not start in time", n)
		}
	}
	for ; now.Before(start.Add(10 * time.Minute)); now = now.Add(100 * time.Millisecond) {
		step(Result{Took: 10 * time.Millisecond})
	}
	if attempts < 30+290 || attempts > 30+300 {
		t.Errorf("%d attempts in 10 minutes, want a burst of 30 and 30 a minute", attempts)
	}
	if wake := q.NextClaim(); wake.IsZero() || wake.After(now.Add(2*time.Second)) {
		t.Errorf("the next claim is at %s, want within 2 s of %s", wake, now)
	}
	attempts = 0
	for range 30 {
		now = now.Add(100 * time.Millisecond)
		step(Result{Took: 100 * time.Millisecond, OK: true})
	}
	if attempts < 15*30 {
		t.Errorf("%d attempts in 3 s after an acknowledgement, want no limit", attempts)
	}
	q.Drain()
	now = now.Add(proofLasts + time.Minute)
	attempts = 0
	for range 30 {
		now = now.Add(100 * time.Millisecond)
		step(Result{Took: 10 * time.Millisecond})
	}
	if attempts < 30 || attempts > 32 {
		t.Errorf("%d attempts in 3 s after the proof has ended, want a burst of 30", attempts)
	}
}

// An endpoint that moves counts against the limits of its new host.
func TestMovedEndpointUsesLimitOfNewHost(t *testing.T) {
	t.Parallel()
	host := "own"
	q := New[int](Limits{Lane: 8, Host: 4, All: 100, Timeout: 5 * time.Second, HostOf: func(string) string { return host }})
	put(q, "a", numbers(0, 100), start.Add(time.Hour))
	put(q, "b", numbers(0, 100), start.Add(time.Hour))
	startAll(q, start)
	host = "victim"
	for _, id := range []string{"a", "b"} {
		for q.lane(id).inFlight > 1 {
			q.Done(id, Result{At: start, Took: time.Millisecond, OK: true})
			if begun := startAll(q, start); begun[id] > 0 {
				t.Fatalf("%v began while attempts of %s at the old host are in flight", begun, id)
			}
		}
		q.Done(id, Result{At: start, Took: time.Millisecond, OK: true})
	}
	startAll(q, start)
	if own, victim := q.hosts["own"].totalInFlight(), q.hosts["victim"].totalInFlight(); own != 0 || victim != 4 {
		t.Errorf("%d are in flight at the old host and %d at the new one, want 0 and 4", own, victim)
	}
}

// A client cannot refill a host's bucket by recreating its webhook.
func TestHostKeepsItsBucketWithoutEndpoints(t *testing.T) {
	t.Parallel()
	q := onHosts(Limits{Lane: 8, Host: 16, All: 100, Unproven: 8})
	put(q, "victim/1", numbers(0, 20), start.Add(time.Hour))
	if n := startAll(q, start)["victim/1"]; n != 8 {
		t.Fatalf("%d began, want 8", n)
	}
	for range 8 {
		q.Done("victim/1", Result{At: start, Took: time.Millisecond})
	}
	q.Drain()
	q.Prune(func(string) bool { return false })
	put(q, "victim/2", numbers(0, 20), start.Add(time.Hour))
	if n := startAll(q, start.Add(time.Second))["victim/2"]; n != 0 {
		t.Errorf("%d began at the next webhook, want none", n)
	}
	q.refill(start.Add(time.Hour))
	q.Drain()
	q.Prune(func(string) bool { return false })
	if len(q.hosts) != 0 {
		t.Errorf("%d hosts remain after an hour", len(q.hosts))
	}
}
