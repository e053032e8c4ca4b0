package vayu

import (
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// pace delays calls while a rate limit is used up. The header RateLimit of a reply names the limit that applies to the
// route of the call.
type pace struct {
	mu     sync.Mutex
	names  map[string]string // route -> name of its rate limit
	limits map[string]limit  // name -> limit; only limits that are used up
}

// limit is a rate limit that is used up.
type limit struct {
	next     time.Time // time of the next permitted call
	interval time.Duration
}

// delay returns how long the next call of a route must wait, and reserves the time of that call.
func (p *pace) delay(route string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := p.names[route]
	l, ok := p.limits[name]
	if !ok {
		return 0
	}
	at := now
	if l.next.After(now) {
		at = l.next
	}
	p.limits[name] = limit{at.Add(l.interval), l.interval}
	return at.Sub(now)
}

var (
	rateLimit       = regexp.MustCompile(`^"([^"]+)";r=(\d+);t=\d+$`)
	rateLimitPolicy = regexp.MustCompile(`;q=(\d+);w=(\d+)$`)
)

// observe reads the state of the route's rate limit from the header of a reply.
func (p *pace) observe(route string, h http.Header, now time.Time) {
	state := rateLimit.FindStringSubmatch(h.Get("RateLimit"))
	policy := rateLimitPolicy.FindStringSubmatch(h.Get("RateLimit-Policy"))
	if state == nil || policy == nil {
		return
	}
	quota, _ := strconv.Atoi(policy[1])
	window, _ := strconv.Atoi(policy[2])
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names == nil {
		p.names, p.limits = map[string]string{}, map[string]limit{}
	}
	name := state[1]
	p.names[route] = name
	if left, _ := strconv.Atoi(state[2]); left > 0 || quota == 0 {
		delete(p.limits, name)
		return
	}
	// The service permits `quota` calls in `window` seconds. A used-up limit thus permits a call after each `interval`.
	interval := time.Duration(window) * time.Second / time.Duration(quota)
	next := now.Add(interval)
	if l := p.limits[name]; l.next.After(next) {
		next = l.next
	}
	p.limits[name] = limit{next, interval}
}
