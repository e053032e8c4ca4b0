package ratelimit

import (
	"net/netip"
	"testing"
	"time"

	"vayu/schema"
)

// Each address has its own tokens, and all addresses of an IPv6 network of 64 bits share theirs.
func TestClientsHaveTokensOfTheirOwn(t *testing.T) {
	t.Parallel()
	const perSecond, burst = 100, 1000
	now := time.Date(2026, 11, 20, 9, 12, 0, 0, time.UTC)
	l := New[netip.Addr](perSecond, burst, 100, "Too many requests.")
	admit := func(address string, now time.Time) bool {
		err := l.Admit(Network(netip.MustParseAddr(address)), now)
		if p, ok := err.(*schema.Problem); err != nil && (!ok || p.Code != schema.RateLimited || p.RetryAfter < 1) { //nolint:errorlint // the type of the error is tested
			t.Fatalf("%s: got the error %v", address, err)
		}
		return err == nil
	}
	for i := range burst {
		for _, address := range []string{"192.0.2.1", "2001:db8:1:2::1"} {
			if !admit(address, now) {
				t.Fatalf("request %d of %s is refused", i, address)
			}
		}
	}
	for address, want := range map[string]bool{
		"192.0.2.1": false, "::ffff:192.0.2.1": false, "192.0.2.2": true, "2001:db8:1:2:ffff::1": false, "2001:db8:1:3::1": true,
	} {
		if got := admit(address, now); got != want {
			t.Errorf("%s is admitted: %v, want %v", address, got, want)
		}
	}
	if !admit("192.0.2.1", now.Add(time.Second/perSecond)) {
		t.Error("a token has not come back in time")
	}
}

// Clients beyond the limit replace those that were idle longest.
func TestClientsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 100
	l := New[int](1, 1, most, "")
	for client := range most + 10 {
		_ = l.bucket(client)
	}
	if got := l.buckets.Len(); got != most {
		t.Errorf("there are %d clients, want %d", got, most)
	}
}
