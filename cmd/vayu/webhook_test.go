//go:build integration

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The life of a subscription, as its owner sees it.
func TestIntegrationSubscriptionLifecycle(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	r := receive(t, func(received) int {
		if broken.Load() {
			return http.StatusInternalServerError
		}
		return http.StatusNoContent
	})
	s := serve(t, t.TempDir(), r.flags()...)
	id := s.subscribe(s.sandbox, r, "/hook", `"payment.succeeded","quota.warning"`)

	if reply := s.send(http.MethodPost, s.sandbox, "/v1/webhooks/"+id+"/test", `{"type":"payment.succeeded"}`); reply.status != http.StatusAccepted {
		t.Fatalf("test event: %d %s", reply.status, reply.raw)
	}
	first := r.wait("a test event", func(all []received) bool { return len(all) == 1 })[0]
	switch {
	case first.refused != nil:
		t.Errorf("first.refused = %v, want nil", first.refused)
	case first.Type != "payment.succeeded":
		t.Errorf("first.Type = %q, want \"payment.succeeded\"", first.Type)
	case first.header.Get("X-SERVICE-Mode") != "sandbox":
		t.Errorf("first.header.Get(\"X-SERVICE-Mode\") = %q, want \"sandbox\"", first.header.Get("X-SERVICE-Mode"))
	case first.header.Get("X-SERVICE-Event-Id") != first.ID:
		t.Errorf("first.header.Get(\"X-SERVICE-Event-Id\") = %v, want %v", first.header.Get("X-SERVICE-Event-Id"), first.ID)
	case first.header.Get("X-SERVICE-Attempt") != "1":
		t.Errorf("first.header.Get(\"X-SERVICE-Attempt\") = %q, want \"1\"", first.header.Get("X-SERVICE-Attempt"))
	}
	delivered := s.eventually(s.sandbox, "/v1/deliveries/"+first.header.Get("X-SERVICE-Delivery-Id"), func(r reply) bool { return r.text("state") == "delivered" })
	if shown := s.get(s.sandbox, "/v1/events/"+first.ID); shown.status != http.StatusOK {
		t.Errorf("the event %s is shown as %d %s", first.ID, shown.status, shown.raw)
	}
	for _, path := range []string{"/v1/events/" + first.ID, "/v1/webhooks/" + id, "/v1/deliveries/" + delivered.text("id")} {
		if got := s.get(s.live, path); got.status != http.StatusNotFound {
			t.Errorf("a live key gets %d %s for %s of the sandbox, want 404", got.status, got.raw, path)
		}
	}

	// The receiver fails: the retry comes ten seconds after the first attempt.
	broken.Store(true)
	s.send(http.MethodPost, s.sandbox, "/v1/webhooks/"+id+"/test", `{}`)
	all := r.wait("two retries", func(all []received) bool { return len(all) == 4 })[1:]
	waiting := all[0].header.Get("X-SERVICE-Delivery-Id")
	shown := s.eventually(s.sandbox, "/v1/deliveries/"+waiting, func(r reply) bool {
		data, _ := r.body["data"].(map[string]any)
		return data["attempts_made"] == 3.0 && data["state"] == "waiting"
	})
	var sent struct {
		Data struct{ Attempts []struct{ At time.Time } }
	} // a busy receiver would measure other times
	if err := json.Unmarshal([]byte(shown.raw), &sent); err != nil {
		t.Fatalf("the attempts, %v: %s", err, shown.raw)
	}
	if n := len(sent.Data.Attempts); n != 3 {
		t.Fatalf("%d attempts are shown, want 3: %s", n, shown.raw)
	}
	for i, after := range []time.Duration{0, 10 * time.Second, 40 * time.Second} {
		late := sent.Data.Attempts[i].At.Sub(sent.Data.Attempts[0].At) - after
		if all[i].ID != all[0].ID || all[i].header.Get("X-SERVICE-Attempt") != strconv.Itoa(i+1) || late < -time.Millisecond { // the API rounds
			t.Errorf("attempt %s of %s was sent %s after the first, want attempt %d of %s after %s",
				all[i].header.Get("X-SERVICE-Attempt"), all[i].ID, late+after, i+1, all[0].ID, after)
		}
		t.Logf("attempt %d was sent %s late", i+1, late)
	}

	// After the deletion, waiting deliveries are cancelled, and none arrives any more.
	if gone := s.send(http.MethodDelete, s.sandbox, "/v1/webhooks/"+id, ""); gone.status != http.StatusOK {
		t.Errorf("deleting: %d %s", gone.status, gone.raw)
	}
	s.eventually(s.sandbox, "/v1/deliveries/"+waiting, func(r reply) bool { return r.text("state") == "cancelled" })
}

// Deliveries have both signatures from the next attempt on, under full load.
func TestIntegrationRotationUnderTraffic(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	s := serve(t, t.TempDir(), r.flags()...)
	id := s.subscribe(s.live, r, "/", `"payment.succeeded"`)
	fire := s.fire("--rate", "500", "--count", "0")
	r.wait("traffic", func(all []received) bool { return len(all) > 200 })
	for range 5 {
		rotated := s.send(http.MethodPost, s.live, "/v1/webhooks/"+id+"/rotate-secret", `{"grace_seconds":60}`)
		at := time.Now()
		if rotated.status != http.StatusOK {
			t.Fatalf("rotating: %d %s", rotated.status, rotated.raw)
		}
		r.mu.Lock()
		r.secrets = []string{rotated.text("secret")} // the new one alone
		before := len(r.all)
		r.mu.Unlock()
		// An attempt that was signed before the reply can arrive after it.
		signedLater := func(d received) bool { return signedAt(t, d) > at.Unix() }
		all := r.wait("traffic", func(all []received) bool {
			later := 0
			for _, d := range all[before:] {
				if signedLater(d) {
					later++
				}
			}
			return later > 200
		})
		for _, d := range all[before:] {
			if signedLater(d) && d.refused != nil {
				t.Errorf("an attempt that was signed %d s after the reply lacks the new signature: %v", signedAt(t, d)-at.Unix(), d.refused)
			}
		}
	}
	fire.interrupt()
	r.waitEvents(fire.committed())
}

// signedAt returns the Unix time in the signature of a delivery, s.
func signedAt(t *testing.T, d received) (at int64) {
	t.Helper()
	if _, err := fmt.Sscanf(d.header.Get("X-SERVICE-Signature"), "t=%d,", &at); err != nil {
		t.Fatalf("the signature %q: %v", d.header.Get("X-SERVICE-Signature"), err)
	}
	return at
}

// webhookKills is the number of kills under load; every committed event arrives.
const webhookKills = 30

func TestIntegrationNoEventIsLostWhenTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	flags := withoutEngine(r.flags()...)
	s := serve(t, t.TempDir(), flags...)
	s.subscribe(s.live, r, "/", `"payment.succeeded"`)
	fire := s.fire("--rate", "200", "--count", "0")
	killAndCount(t, r, fire, s, killCount(t, webhookKills), flags)
}

// killAndCount kills the service while events are fired. It then waits for all events
// and logs the number of duplicates.
func killAndCount(t *testing.T, r *inbox, fire *fireProcess, s *serverProcess, kills int, flags []string) {
	t.Helper()
	for range kills {
		all, _ := r.deliveries()
		r.wait("deliveries", func(now []received) bool { return len(now) >= len(all)+50 })
		s.stop(syscall.SIGKILL)
		s = start(t, s.data, flags...)
	}
	fire.interrupt()
	want := fire.committed()
	all, again := r.waitEvents(want)
	for _, d := range all {
		if d.refused != nil {
			t.Fatalf("the delivery of %s does not verify: %v", d.ID, d.refused)
		}
	}
	t.Logf("%d kills, %d events committed, %d deliveries: %d came again", kills, want, len(all), again)
}
