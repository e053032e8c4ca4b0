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

// looks is the time of some looks of a hub.
func looks(n int) {
	time.Sleep(time.Duration(n) * time.Second)
	synctest.Wait()
}

const greeting = `hello {"mode":"sandbox","account":"acc_a","kinds":["air","delivery"],"at":"2000-01-01T00:00:00Z"}`

func TestAChangeIsToldOnceAndSoon(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		c := h.listen(t, ask{})
		synctest.Wait()
		if diff := cmp.Diff([]string{greeting}, c.messages()); diff != "" {
			t.Error(diff)
		}
		h.deliveries.happen(delhi, "dlv_1", "waiting")
		looks(2)
		want := []string{greeting, `delivery {"id":"dlv_1","state":"waiting"}`}
		if diff := cmp.Diff(want, c.messages()); diff != "" {
			t.Error(diff)
		}
		h.deliveries.change(func() { h.deliveries.changes[0].notice.Data = map[string]string{"id": "dlv_1", "state": "delivered"} })
		looks(3)
		want = append(want, `delivery {"id":"dlv_1","state":"delivered"}`)
		if diff := cmp.Diff(want, c.messages()); diff != "" {
			t.Error(diff)
		}
		if got := fixture.Figure(t, h.metrics, "vayu_live_notices_total", "kind", "delivery"); got != 2 {
			t.Errorf("%v notices are counted, want 2", got)
		}
	})
}

func TestNobodyIsToldOfOthers(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		h.access.grant("key_air", schema.AQIRead)
		h.access.grant("key_none", schema.AccountRead)
		c := h.listen(t, ask{})
		other := h.listen(t, ask{owner: schema.Owner{Account: "acc_b", World: schema.Sandbox}, key: "key_b"})
		world := h.listen(t, ask{owner: schema.Owner{Account: "acc_a", World: schema.Live}, key: "key_live"})
		air := h.listen(t, ask{key: "key_air"})
		none := h.listen(t, ask{key: "key_none"})
		filtered := h.listen(t, ask{path: "/v1/live?kinds=air,air"})
		h.deliveries.happen(delhi, "dlv_1", "waiting")
		h.air.happen(delhi, "", "new")
		looks(2)
		for name, one := range map[string]struct {
			*client

			deliveries, air int
		}{
			"the account": {c, 1, 1}, "another account": {other, 0, 0}, "the other world": {world, 0, 0},
			"a key of the air": {air, 0, 1}, "a key of neither": {none, 0, 0}, "who asks for the air": {filtered, 0, 1},
		} {
			if d, a := one.count("event: delivery"), one.count("event: air"); d != one.deliveries || a != one.air {
				t.Errorf("%s was told of %d deliveries and of air %d times, want %d and %d", name, d, a, one.deliveries, one.air)
			}
		}
		if none.count(`"kinds":[]`) != 1 {
			t.Errorf("who is told nothing learns it: %s", none.said())
		}
	})
}

func TestTooMuchIsToldAsAReset(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		c := h.listen(t, ask{})
		for i := range 101 {
			h.deliveries.happen(delhi, fmt.Sprintf("dlv_%d", i), "waiting")
		}
		looks(2)
		want := []string{greeting, `reset {"kinds":["delivery"]}`}
		if diff := cmp.Diff(want, c.messages()); diff != "" {
			t.Error(diff)
		}
		h.deliveries.change(func() { h.deliveries.changes, h.deliveries.cut = nil, true })
		looks(20)
		if n := c.count("event: reset"); n < 4 || n > 6 {
			t.Errorf("in 22 s of too much, it was said %d times, want about 5", n)
		}
		h.deliveries.change(func() { h.deliveries.cut = false })
		looks(6)
		before := c.count("event: reset")
		h.deliveries.happen(delhi, "dlv_last", "waiting")
		looks(6)
		if c.count("dlv_last") != 1 || c.count("event: reset") != before {
			t.Errorf("once there is not too much, what happens is told: %s", c.said())
		}
	})
}

func TestAFeedThatFailsIsAnOutage(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		c := h.listen(t, ask{})
		looks(2)
		h.deliveries.change(func() { h.deliveries.err = errAway })
		h.deliveries.happen(delhi, "dlv_meanwhile", "waiting")
		h.air.happen(delhi, "", "new")
		looks(10)
		if c.count("event: air") != 1 || c.hasEnded() {
			t.Error("a feed that fails ends others")
		}
		h.deliveries.change(func() { h.deliveries.err = nil })
		looks(2)
		if c.count("dlv_meanwhile") != 1 || c.count("reset") != 0 {
			t.Errorf("what happened meanwhile was not told: %s", c.said())
		}
		if said := h.log.Count("does not answer"); said != 1 {
			t.Errorf("an outage was said %d times", said)
		}
		if got := fixture.Figure(t, h.metrics, "vayu_live_look_failures_total", "feed", "delivery"); got < 9 || got > 11 {
			t.Errorf("%v failures are counted, want 10", got)
		}
		h.deliveries.change(func() { h.deliveries.err = errAway })
		looks(60)
		h.deliveries.change(func() { h.deliveries.err = nil })
		looks(2)
		if c.count(`reset {"kinds"`)+c.count(`data: {"kinds":["delivery"]}`) != 1 {
			t.Errorf("an outage of a minute is no reset: %s", c.said())
		}
	})
}

func TestWhoComesAgainIsToldWhatHeMissed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		c := h.listen(t, ask{})
		looks(40) // nothing happens, and the id goes on all the same
		id := c.lastID()
		c.leave()
		<-c.ended
		h.deliveries.happen(delhi, "dlv_missed", "waiting")
		looks(10)
		again := h.listen(t, ask{lastID: id})
		looks(2)
		if again.count("dlv_missed") != 1 || again.count("event: reset") != 0 {
			t.Errorf("after 10 s: %s", again.said())
		}
		fresh := h.listen(t, ask{})
		looks(2)
		if fresh.count("dlv_missed") != 0 || fresh.count("event: reset") != 0 {
			t.Errorf("who comes for the first time: %s", fresh.said())
		}
		looks(30)
		for _, id := range []string{id, "0", "x", "9223372036854775807"} {
			late := h.listen(t, ask{lastID: id})
			looks(2)
			got := late.messages()
			if len(got) != 2 || got[1] != `reset {"kinds":["air","delivery"]}` {
				t.Errorf("after half a minute, with %q: %q", id, got)
			}
		}
	})
}

func TestWhoDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		stuck := make(chan struct{})
		slow := h.listen(t, ask{stuck: stuck})
		good := h.listen(t, ask{})
		n := 0
		for range 10 {
			for range 90 {
				n++
				h.deliveries.happen(delhi, fmt.Sprintf("dlv_%04d", n), "waiting")
			}
			looks(1)
		}
		looks(1)
		if got := good.count("event: delivery"); got != n {
			t.Errorf("who reads got %d of %d", got, n)
		}
		if got := fixture.Figure(t, h.metrics, "vayu_live_cut_off_total"); got != 1 {
			t.Errorf("%v clients were cut off, want 1", got)
		}
		close(stuck)
		<-slow.ended
		if good.hasEnded() {
			t.Error("another client ended with the slow one")
		}
	})
}

func TestAStreamEndsWithItsKeyAndItsSession(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		byKey := h.listen(t, ask{key: "key_revoked"})
		bySession := h.listen(t, ask{key: "key_session", session: true})
		sameKey := h.listen(t, ask{key: "key_session"})
		h.access.grant("key_revoked")
		h.access.endSession("key_session")
		looks(1)
		if !byKey.hasEnded() || !bySession.hasEnded() || sameKey.hasEnded() {
			t.Errorf("ended: %v by key, %v by session, %v by another way in", byKey.hasEnded(), bySession.hasEnded(), sameKey.hasEnded())
		}
	})
}

func TestNobodyLooksWhenNobodyListens(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		looks(60)
		c := h.listen(t, ask{path: "/v1/live?kinds=air"})
		looks(10)
		c.leave()
		<-c.ended
		looks(60)
		if h.deliveries.asked != 0 || h.air.asked < 9 || h.air.asked > 11 {
			t.Errorf("%d looks for deliveries, want none, and %d for air, want 10", h.deliveries.asked, h.air.asked)
		}
	})
}

func TestAQuietStreamIsKeptOpen(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, h *hub) {
		c := h.listen(t, ask{path: "/v1/live?for=100"})
		looks(99)
		if got := strings.Count(c.said(), "\n: nothing new\n\n"); got != 6 || c.hasEnded() {
			t.Errorf("%d comments in 99 s, want 6; it has ended: %v", got, c.hasEnded())
		}
		looks(1)
		if !c.hasEnded() {
			t.Error("it goes on after its time")
		}
	})
}
