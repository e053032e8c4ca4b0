package fixturetest

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Together has work done n times by so many callers at once, and returns how often a
// second.
func Together(tb testing.TB, callers, n int, work func(caller, i int) error) float64 {
	tb.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	began := time.Now()
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				if err := work(caller, int(i)); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// OpenLoop does something n times at a rate, whether or not earlier ones are done, and
// returns how long after its time each was done, the shortest first.
func OpenLoop(n, perSecond int, do func(i int)) []time.Duration {
	took := make([]time.Duration, n)
	var all sync.WaitGroup
	began := time.Now()
	for i := range n {
		due := time.Duration(i) * time.Second / time.Duration(perSecond)
		time.Sleep(due - time.Since(began))
		all.Go(func() {
			do(i)
			took[i] = time.Since(began) - due
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}
