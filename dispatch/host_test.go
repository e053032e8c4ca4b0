package dispatch_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"vayu/dispatch"
	"vayu/internal/sqlstore/sqlstoretest"
)

// Webhooks of several accounts at one host share its slots, and do not delay another
// host.
func TestWebhooksOfOneHostShareItsSlots(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var held, most atomic.Int32
	victim := receive(t, false, func(http.ResponseWriter, *http.Request) {
		for n := held.Add(1); ; {
			if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		<-release
		held.Add(-1)
	})
	other := receive(t, false, nil)
	o := newFixture(t, sqlstoretest.SQLite(t), nil, func(c *dispatch.Config) { c.HostInFlight, c.HostUnproven = 4, 0 })
	const accounts, each = 5, 4
	for i := range accounts {
		a := o.account(fmt.Sprint("a", i))
		for j := range each {
			o.subscribe(a, fmt.Sprintf("%s/%d", victim.URL, j))
		}
	}
	healthy := o.account("healthy")
	o.subscribe(healthy, other.URL)
	o.run()
	for i := range accounts {
		o.appendEvent(fmt.Sprint("acc_a", i))
	}
	victim.wait(t, 1)
	o.appendEvent(healthy)
	other.wait(t, 1)
	close(release)
	victim.wait(t, accounts)
	o.waitSettled()
	if got := most.Load(); got > 4 {
		t.Errorf("%d attempts were at the host at once, want at most 4", got)
	}
	if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM delivery WHERE state = 'delivered' AND attempts = 1"); n != accounts*each+1 {
		t.Errorf("%d deliveries arrived with one attempt, want all %d", n, accounts*each+1)
	}
}
