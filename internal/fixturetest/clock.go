// Package fixturetest gives tests of everything a clock to move, a log to read and
// metrics to look at.
package fixturetest

import (
	"sync"
	"time"
)

// Clock is a time that tests move. Its zero value is the real time.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return time.Now()
	}
	return c.at
}

// Set stops the clock at a time.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// Pass moves the time on, and stops the clock there.
func (c *Clock) Pass(d time.Duration) { c.Set(c.Now().Add(d)) }
