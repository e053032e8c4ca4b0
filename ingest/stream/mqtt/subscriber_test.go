package mqtt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/internal/testing/fixture"
)

// each runs a test with each version of the protocol.
func each(t *testing.T, do func(t *testing.T, version int)) {
	t.Helper()
	for name, version := range versions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, version)
		})
	}
}

func TestMessagesAreStoredOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version int) {
		s := settingsOf(t, sharedBroker(t), version)
		c := newCollector()
		r := start(t, s, c)
		r.awaitConnection(t)
		publish := publisher(t, &s)
		for n := range 100 {
			publish(s.topic("a"), fmt.Sprint(n), false)
		}
		c.await(t, 100)
		if _, all := c.stored(); all != 100 {
			t.Errorf("stored %d messages, want 100", all)
		}
	})
}

// The broker keeps the messages of an outage, and those that were not acknowledged.
func TestOutageLosesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version int) {
		s := settingsOf(t, sharedBroker(t), version)
		c := newCollector()
		first := start(t, s, c)
		first.awaitConnection(t)
		publish := publisher(t, &s)
		c.fail(errStore)
		for n := range 50 { // received, but not stored
			publish(s.topic("a"), fmt.Sprint(n), false)
		}
		fixture.Eventually(t, "storing has failed", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.attempts > 0 })
		first.stop()
		for n := range 150 { // while nothing runs
			publish(s.topic("b"), fmt.Sprint(1000+n), false)
		}
		c.fail(nil)
		start(t, s, c)
		c.await(t, 200)
		if _, all := c.stored(); all != 200 {
			t.Errorf("stored %d messages, want 200", all)
		}
	})
}

// With a failing store the same messages are repeated, and acknowledged afterwards.
func TestFailingStoreIsRetried(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version int) {
		s := settingsOf(t, sharedBroker(t), version)
		c := newCollector()
		r := start(t, s, c)
		r.awaitConnection(t)
		c.fail(errStore)
		publish := publisher(t, &s)
		for n := range 60 {
			publish(s.topic("a"), fmt.Sprint(n), false)
		}
		fixture.Eventually(t, "storing has failed twice", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.attempts > 1 })
		c.fail(nil)
		c.await(t, 60)
		if got := r.failures(); got != 0 {
			t.Errorf("the connection was lost %d times, want never", got)
		}
	})
}

// The subscriber reconnects to a broker that restarts, and nothing is stored twice.
func TestBrokerRestart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version int) {
		dir, address := ownBroker(t)
		s := settingsOf(t, address, version)
		c := newCollector()
		r := start(t, s, c)
		r.awaitConnection(t)
		publish := publisher(t, &s)
		for n := range 30 {
			publish(s.topic("a"), fmt.Sprint(n), false)
		}
		for round := range 3 {
			script(t, "halt", dir)
			fixture.Eventually(t, "the loss is noticed", func() bool { return r.failures() > round })
			script(t, "start", dir)
			for n := range 30 {
				publish(s.topic("a"), fmt.Sprint(100*(round+1)+n), false)
			}
		}
		c.await(t, 120)
		if _, all := c.stored(); all != 120 {
			t.Errorf("stored %d messages, want 120", all)
		}
	})
}

// A session of no length has no messages of an outage.
func TestNoSessionKeepsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version int) {
		s := settingsOf(t, sharedBroker(t), version)
		s.Session = 0
		c := newCollector()
		first := start(t, s, c)
		first.awaitConnection(t)
		first.stop()
		publish := publisher(t, &s)
		publish(s.topic("a"), "during the outage", false)
		start(t, s, c).awaitConnection(t)
		publish(s.topic("a"), "afterwards", false)
		c.await(t, 1)
		if c.payloads["afterwards"] != 1 {
			t.Errorf("got the messages %v, want the one after the outage", c.payloads)
		}
	})
}

func TestRetainedMessagesAreMarked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version int) {
		s := settingsOf(t, sharedBroker(t), version)
		publish := publisher(t, &s)
		publish(s.topic("a"), "kept", true)
		t.Cleanup(func() { publish(s.topic("a"), "", true) })
		c := newCollector()
		start(t, s, c).awaitConnection(t)
		publish(s.topic("a"), "fresh", false)
		c.await(t, 2)
		if !c.retained["kept"] || c.retained["fresh"] {
			t.Errorf("got the marks %v, want that of the kept message", c.retained)
		}
	})
}

func TestSecuredBroker(t *testing.T) {
	t.Parallel()
	dir, address := ownBroker(t, "--secure")
	text, err := os.ReadFile(filepath.Join(dir, "tls", "password"))
	if err != nil {
		t.Fatal(err)
	}
	refused := map[int]string{Version311: "not Authorized", Version5: "code 135: Not authorized"}
	password, ca := strings.TrimSpace(string(text)), filepath.Join(dir, "tls", "ca.pem")
	each(t, func(t *testing.T, version int) {
		t.Run("accepted", func(t *testing.T) {
			s := settingsOf(t, address, version)
			s.TLS, s.CA, s.Username, s.Password = true, ca, "vayu", password
			start(t, s, newCollector()).awaitConnection(t)
		})
		for name, row := range map[string]struct {
			change func(*Settings)
			want   string // part of the error
		}{
			"wrong password":  {func(s *Settings) { s.Password = "wrong" }, refused[version]},
			"no login":        {func(s *Settings) { s.Username, s.Password = "", "" }, refused[version]},
			"another CA":      {func(s *Settings) { s.CA = fixture.NewAuthority(t).CA() }, "certificate signed by unknown authority"},
			"no TLS":          {func(s *Settings) { s.TLS = false }, ""},
			"no local broker": {func(s *Settings) { s.Local = false }, "prohibited"},
		} {
			t.Run(name, func(t *testing.T) {
				s := settingsOf(t, address, version)
				s.TLS, s.CA, s.Username, s.Password = true, ca, "vayu", password
				row.change(&s)
				r := start(t, s, newCollector())
				fixture.Eventually(t, "the connection fails", func() bool { return r.failures() > 0 })
				r.stop()
				if got := r.lost[0].Error(); !strings.Contains(got, row.want) || strings.Contains(got, password) {
					t.Errorf("got the error %q, want %q", got, row.want)
				}
			})
		}
	})
}

// A message that the broker repeats after a lost acknowledgement is no second one.
func TestRepetitionsAreRecognised(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := func(payload string, connection int, duplicate bool) *message {
		one := &message{connection: connection, duplicate: duplicate}
		one.Topic, one.Payload = "t", []byte(payload)
		return one
	}
	r := newRecent()
	for _, step := range []struct {
		name   string
		m      *message
		accept bool
	}{
		{"a message", m("a", 0, false), true},
		{"the same value again", m("a", 0, false), true},
		{"marked by the broker, of an earlier process", m("a", 0, true), true},
	} {
		if got := r.accept(step.m); got != step.accept {
			t.Errorf("%s: accepted %v, want %v", step.name, got, step.accept)
		}
	}
	r.add(m("a", 0, false), now.Add(-time.Hour))
	r.add(m("b", 0, false), now)
	r.lost(now)
	for _, step := range []struct {
		name   string
		m      *message
		accept bool
	}{
		{"a repetition of what was acknowledged just before the loss", m("b", 1, true), false},
		{"a second repetition", m("b", 1, true), true},
		{"a repetition of what was acknowledged long before", m("a", 1, true), true},
		{"a message that the lost connection had received", m("c", 0, false), true},
		{"its repetition", m("c", 1, true), false},
		{"a new one with the same value", m("c", 1, false), true},
	} {
		if got := r.accept(step.m); got != step.accept {
			t.Errorf("%s: accepted %v, want %v", step.name, got, step.accept)
		}
	}
}
