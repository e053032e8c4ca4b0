package sse_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// polls waits for n polls of a hub.
func polls(n int) {
	time.Sleep(time.Duration(n) * time.Second)
	synctest.Wait()
}

const greeting = `hello {"mode":"sandbox","account":"acc_a","kinds":["air","delivery"],"at":"2000-01-01T00:00:00Z"}`

func TestChangeIsSentOnce(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		c := h.listen(t, request{})
		synctest.Wait()
		if diff := cmp.Diff([]string{greeting}, c.messages()); diff != "" {
			t.Error(diff)
		}
		h.deliveries.add(owner, "dlv_1", "waiting")
		polls(2)
		want := []string{greeting, `delivery {"id":"dlv_1","state":"waiting"}`}
		if diff := cmp.Diff(want, c.messages()); diff != "" {
			t.Error(diff)
		}
		h.deliveries.update(func() { h.deliveries.changes[0].notice.Data = map[string]string{"id": "dlv_1", "state": "delivered"} })
		polls(3)
		want = append(want, `delivery {"id":"dlv_1","state":"delivered"}`)
		if diff := cmp.Diff(want, c.messages()); diff != "" {
			t.Error(diff)
		}
		if got := fixture.MetricValue(t, h.metrics, "vayu_live_notices_total", "kind", "delivery"); got != 2 {
			t.Errorf("%v notices are counted, want 2", got)
		}
	})
}

func TestNoticesAreLimitedToOwnerAndScopes(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		h.access.grant("key_air", schema.AQIRead)
		h.access.grant("key_none", schema.AccountRead)
		c := h.listen(t, request{})
		other := h.listen(t, request{owner: schema.Owner{Account: "acc_b", World: schema.Sandbox}, key: "key_b"})
		world := h.listen(t, request{owner: schema.Owner{Account: "acc_a", World: schema.Live}, key: "key_live"})
		air := h.listen(t, request{key: "key_air"})
		none := h.listen(t, request{key: "key_none"})
		filtered := h.listen(t, request{path: "/v1/live?kinds=air,air"})
		h.deliveries.add(owner, "dlv_1", "waiting")
		h.air.add(owner, "", "new")
		polls(2)
		for name, one := range map[string]struct {
			*client

			deliveries, air int
		}{
			"the account": {c, 1, 1}, "another account": {other, 0, 0}, "the other world": {world, 0, 0},
			"a key of the air": {air, 0, 1}, "a key of neither": {none, 0, 0}, "a filter for air": {filtered, 0, 1},
		} {
			if d, a := one.count("event: delivery"), one.count("event: air"); d != one.deliveries || a != one.air {
				t.Errorf("%s got %d notices of deliveries and %d of air, want %d and %d", name, d, a, one.deliveries, one.air)
			}
		}
		if none.count(`"kinds":[]`) != 1 {
			t.Errorf("the greeting without kinds: %s", none.received())
		}
	})
}

func TestTooManyChangesCauseReset(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		c := h.listen(t, request{})
		for i := range 101 {
			h.deliveries.add(owner, fmt.Sprintf("dlv_%d", i), "waiting")
		}
		polls(2)
		want := []string{greeting, `reset {"kinds":["delivery"]}`}
		if diff := cmp.Diff(want, c.messages()); diff != "" {
			t.Error(diff)
		}
		h.deliveries.update(func() { h.deliveries.changes, h.deliveries.cut = nil, true })
		polls(20)
		if n := c.count("event: reset"); n < 4 || n > 6 {
			t.Errorf("%d resets in 22 s of too many changes, want about 5", n)
		}
		h.deliveries.update(func() { h.deliveries.cut = false })
		polls(6)
		before := c.count("event: reset")
		h.deliveries.add(owner, "dlv_last", "waiting")
		polls(6)
		if c.count("dlv_last") != 1 || c.count("event: reset") != before {
			t.Errorf("a change after the resets was not sent once: %s", c.received())
		}
	})
}

func TestFailingFeedIsLoggedOnce(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		c := h.listen(t, request{})
		polls(2)
		h.deliveries.update(func() { h.deliveries.err = errUnavailable })
		h.deliveries.add(owner, "dlv_meanwhile", "waiting")
		h.air.add(owner, "", "new")
		polls(10)
		if n := c.count("event: air"); n != 1 {
			t.Errorf("with a failing feed the stream has %d notices of another, want 1", n)
		}
		if c.hasEnded() {
			t.Error("a failing feed ended the stream")
		}
		h.deliveries.update(func() { h.deliveries.err = nil })
		polls(2)
		if c.count("dlv_meanwhile") != 1 || c.count("reset") != 0 {
			t.Errorf("a change during the failure was not sent: %s", c.received())
		}
		if lines := h.log.Count("does not answer"); lines != 1 {
			t.Errorf("the failure was logged %d times, want 1", lines)
		}
		if got := fixture.MetricValue(t, h.metrics, "vayu_live_look_failures_total", "feed", "delivery"); got < 9 || got > 11 {
			t.Errorf("%v failures are counted, want 10", got)
		}
		h.deliveries.update(func() { h.deliveries.err = errUnavailable })
		polls(60)
		h.deliveries.update(func() { h.deliveries.err = nil })
		polls(2)
		if c.count(`reset {"kinds"`)+c.count(`data: {"kinds":["delivery"]}`) != 1 {
			t.Errorf("no single reset after a failure of one minute: %s", c.received())
		}
	})
}

func TestReconnectingClientResumes(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		c := h.listen(t, request{})
		polls(40) // without changes the id advances, too
		id := c.lastID()
		c.leave()
		<-c.ended
		h.deliveries.add(owner, "dlv_missed", "waiting")
		polls(10)
		again := h.listen(t, request{lastID: id})
		polls(2)
		if again.count("dlv_missed") != 1 || again.count("event: reset") != 0 {
			t.Errorf("after 10 s: %s", again.received())
		}
		fresh := h.listen(t, request{})
		polls(2)
		if fresh.count("dlv_missed") != 0 || fresh.count("event: reset") != 0 {
			t.Errorf("a client without Last-Event-ID: %s", fresh.received())
		}
		polls(30)
		for _, id := range []string{id, "0", "x", "9223372036854775807"} {
			late := h.listen(t, request{lastID: id})
			polls(2)
			got := late.messages()
			if len(got) != 2 || got[1] != `reset {"kinds":["air","delivery"]}` {
				t.Errorf("after half a minute, with %q: %q", id, got)
			}
		}
	})
}

func TestSlowClientIsDisconnected(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		stuck := make(chan struct{})
		slow := h.listen(t, request{stuck: stuck})
		good := h.listen(t, request{})
		n := 0
		for range 10 {
			for range 90 {
				n++
				h.deliveries.add(owner, fmt.Sprintf("dlv_%04d", n), "waiting")
			}
			polls(1)
		}
		polls(1)
		if got := good.count("event: delivery"); got != n {
			t.Errorf("the client that reads got %d of %d notices", got, n)
		}
		if got := fixture.MetricValue(t, h.metrics, "vayu_live_cut_off_total"); got != 1 {
			t.Errorf("%v clients were cut off, want 1", got)
		}
		close(stuck)
		<-slow.ended
		if good.hasEnded() {
			t.Error("another client ended with the slow one")
		}
	})
}

func TestStreamEndsWithItsKeyAndSession(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		byKey := h.listen(t, request{key: "key_revoked"})
		bySession := h.listen(t, request{key: "key_session", session: true})
		sameKey := h.listen(t, request{key: "key_session"})
		h.access.grant("key_revoked")
		h.access.endSession("key_session")
		polls(1)
		if !byKey.hasEnded() || !bySession.hasEnded() || sameKey.hasEnded() {
			t.Errorf("ended: %v by key, %v by session, %v with the key of that session", byKey.hasEnded(), bySession.hasEnded(), sameKey.hasEnded())
		}
	})
}

func TestFeedsAreNotPolledWithoutStreams(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		polls(60)
		c := h.listen(t, request{path: "/v1/live?kinds=air"})
		polls(10)
		c.leave()
		<-c.ended
		polls(60)
		if h.deliveries.polls != 0 || h.air.polls < 9 || h.air.polls > 11 {
			t.Errorf("%d polls for deliveries, want 0, and %d for air, want 10", h.deliveries.polls, h.air.polls)
		}
	})
}

func TestIdleStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		c := h.listen(t, request{path: "/v1/live?for=100"})
		polls(99)
		if got := strings.Count(c.received(), "\n: nothing new\n\n"); got != 6 || c.hasEnded() {
			t.Errorf("%d comments in 99 s, want 6; the stream has ended: %v", got, c.hasEnded())
		}
		polls(1)
		if !c.hasEnded() {
			t.Error("the stream is open after its time limit")
		}
	})
}
