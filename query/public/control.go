package public

import (
	"fmt"
	"time"

	"vayu/schema"
)

const (
	// publishDelay is the time after the end of an hour at which the figures of that hour are expected. Package
	// query/caching has the same delay for clients with a key.
	publishDelay = 5 * time.Minute
	// pendingAge is how long caches hold a reply while newer figures are overdue. Sources publish an hour 10 to 40
	// minutes after its end, so a reply that was cached for an hour could be two hours old.
	pendingAge = 5 * time.Minute
	// staleWhile is how long after its expiry a cache may send a reply while it fetches a new one. Otherwise many
	// clients would wait at once, because all replies expire at the same time.
	staleWhile = 5 * time.Minute
	// staleIfError is how long a cache may send the reply while Vayu fails. The reply states the time of its figures.
	staleIfError = 24 * time.Hour
)

// errorControl is the Cache-Control of an error that the URL causes. Its time is short, because a place without
// stations may get a station.
var errorControl = []string{"public, max-age=60, s-maxage=60"} //nolint:gochecknoglobals // a constant

// control returns the Cache-Control of a reply about the hour that ends at `at` (Unix seconds). Caches hold the reply
// until the next figures are expected, or at most pendingAge if newer figures are overdue or `at` is 0 (no hour).
func control(at uint32, now time.Time) []string {
	next := nextHour(now)
	age := next.Sub(now)
	if newest := next.Add(-publishDelay - time.Hour); int64(at) < newest.Unix() {
		age = min(age, pendingAge)
	}
	return lasting(age)
}

// nextHour returns the next time after `now` at which the figures of an hour are expected.
func nextHour(now time.Time) time.Time {
	next := schema.HourEnd(now.Add(-publishDelay)).Add(publishDelay)
	if next.Equal(now) {
		next = next.Add(time.Hour)
	}
	return next
}

// lasting returns the Cache-Control of a reply that caches may send for the duration `age`.
func lasting(age time.Duration) []string {
	seconds := max(int64(age/time.Second), 1)
	return []string{fmt.Sprintf("public, max-age=%d, s-maxage=%[1]d, stale-while-revalidate=%d, stale-if-error=%d",
		seconds, int64(staleWhile/time.Second), int64(staleIfError/time.Second))}
}
