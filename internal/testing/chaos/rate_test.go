package chaos

import (
	"context"
	"sync"
	"time"

	"vayu/internal/sleep"
)

// pace calls do at a rate until ctx ends, even if earlier calls have not returned. Then it waits
// for the calls in flight. If limit calls are in flight, it calls missed instead.
func pace(ctx context.Context, perSecond float64, limit int, do func(n int), missed func(n int)) {
	slots := make(chan struct{}, limit)
	var all sync.WaitGroup
	defer all.Wait()
	began := time.Now()
	for n := 0; ; n++ {
		due := time.Duration(float64(n) / perSecond * float64(time.Second))
		if !sleep.For(ctx, due-time.Since(began)) {
			return
		}
		select {
		case slots <- struct{}{}:
			all.Go(func() {
				do(n)
				<-slots
			})
		default:
			missed(n)
		}
	}
}
