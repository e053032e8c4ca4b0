package subscription

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"vayu/schema"
)

// BenchmarkScaleMatching matches an event against many subscriptions, of which each
// account has ten or one account has all. The floor is a plain map with the same key.
// It also reports the memory of a subscription and the cost of adding one.
func BenchmarkScaleMatching(b *testing.B) {
	for _, size := range [...]int{10, 1_000, 10_000, 100_000} {
		for _, shape := range [...]struct {
			name string
			each int
		}{{"ten-each", 10}, {"one-has-all", size}} {
			b.Run(fmt.Sprintf("subscriptions=%d/%s", size, shape.name), func(b *testing.B) { benchMatching(b, size, shape.each) })
		}
	}
}

func benchMatching(b *testing.B, size, each int) {
	b.Helper()
	before := heap()
	book := filled(size, each)
	taken := heap() - before
	accounts := make([]string, size/each)
	plain := make(map[audienceKey][]*Subscription, len(accounts))
	of := func(account string) audienceKey {
		return audienceKey{schema.Owner{Account: account, World: schema.Live}, schema.EventQuotaWarning}
	}
	for i := range accounts {
		accounts[i] = fmt.Sprintf("acc_%06d", i)
		plain[of(accounts[i])] = book.byAudience.Get(of(accounts[i]))
	}
	const lookups = 200_000
	found := 0
	ours := timed(lookups, func(i int) {
		found += len(book.Matching(accounts[i%len(accounts)], schema.Live, schema.EventQuotaWarning))
	})
	floor := timed(lookups, func(i int) { found -= len(plain[of(accounts[i%len(accounts)])]) })
	if found != 0 {
		b.Fatalf("the book and the map differ by %d", found)
	}
	const changes = 50
	change := timed(changes, func(i int) {
		e := newGeneration(book)
		e.put(fresh(size+i, each))
		e.finish(2)
	})
	b.ReportMetric(ours, "ns/matching")
	b.ReportMetric(ours/floor, "x-map")
	b.ReportMetric(change/1e3, "µs/change")
	b.ReportMetric(float64(taken)/float64(size), "B/subscription")
	runtime.KeepAlive(book)
}

// filled returns a snapshot of subscriptions to all events.
func filled(size, each int) *Snapshot {
	e := newGeneration(nil)
	for i := range size {
		e.put(fresh(i, each))
	}
	return e.finish(1)
}

// fresh returns the nth subscription, with its own strings, like one read from the
// store.
func fresh(n, each int) *Subscription {
	return &Subscription{
		ID: fmt.Sprintf("wh_%026d", n), Account: fmt.Sprintf("acc_%06d", n/each), URL: fmt.Sprintf("https://receiver.example/hooks/%d", n),
		Events: schema.EventTypes, Active: true, Version: schema.EventVersion, secrets: []string{fmt.Sprintf("whsec_%032d", n)},
	}
}

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// timed returns the nanoseconds of one of n calls.
func timed(n int, call func(i int)) float64 {
	began := time.Now()
	for i := range n {
		call(i)
	}
	return float64(time.Since(began).Nanoseconds()) / float64(n)
}
