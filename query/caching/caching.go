// Package caching caches rendered answers about current air, and tells clients until when an answer is valid.
package caching

import (
	"fmt"
	"sync/atomic"
	"time"

	"vayu/schema"
)

// publishDelay is the time after the end of an hour at which its figures are expected. Sources are fetched with a few
// minutes of jitter.
const publishDelay = 5 * time.Minute

// header is a Cache-Control value. All answers within one second have the same value.
type header struct {
	second int64
	value  []string
}

// Control makes Cache-Control values. The zero value is ready to use. It is safe for concurrent use.
type Control struct{ latest atomic.Pointer[header] }

// At returns a Cache-Control value that lets clients cache an answer until the next figures are expected.
func (c *Control) At(now time.Time) []string {
	second := now.Unix()
	if h := c.latest.Load(); h != nil && h.second == second {
		return h.value
	}
	next := schema.HourEnd(now.Add(-publishDelay)).Add(publishDelay)
	age := max(int64(next.Sub(now)/time.Second), 1)
	h := &header{second, []string{fmt.Sprintf("private, max-age=%d", age)}}
	c.latest.Store(h)
	return h.value
}
