// Package ratelimit limits the requests of clients that send no key.
package ratelimit

import (
	"math"
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"vayu/schema"
)

// networkBits is the prefix length of an IPv6 network that counts as one client: a subscriber usually gets a /64.
const networkBits = 64

// Limiter has a token bucket for each client. It is safe for concurrent use.
type Limiter[K comparable] struct {
	mu        sync.Mutex
	buckets   *lru.Cache[K, *rate.Limiter]
	perSecond rate.Limit
	burst     int
	message   string
}

// New returns a limiter with full buckets. The parameter `most` bounds the memory: above this number of clients, the
// limiter forgets the client that was idle longest. The parameter `message` is the error text for a rejected client.
func New[K comparable](perSecond rate.Limit, burst, most int, message string) *Limiter[K] {
	buckets, _ := lru.New[K, *rate.Limiter](most) // fails only if the size is not positive
	return &Limiter[K]{buckets: buckets, perSecond: perSecond, burst: burst, message: message}
}

// Network returns the value that identifies a client: its IPv4 address, or the network of its IPv6 address.
func Network(address netip.Addr) netip.Addr {
	if address.Is6() && !address.Is4In6() {
		if network, err := address.Prefix(networkBits); err == nil {
			return network.Addr()
		}
	}
	return address.Unmap()
}

// Admit takes a token from a client's bucket. If the bucket has none, the error is a *schema.Problem (rate_limited).
func (l *Limiter[K]) Admit(client K, now time.Time) error {
	bucket := l.bucket(client)
	if bucket.AllowN(now, 1) {
		return nil
	}
	p := schema.NewProblem(schema.RateLimited, "", l.message)
	p.RetryAfter = max(1, int(math.Ceil((1-bucket.TokensAt(now))/float64(l.perSecond))))
	return p
}

func (l *Limiter[K]) bucket(client K) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, ok := l.buckets.Get(client)
	if !ok {
		bucket = rate.NewLimiter(l.perSecond, l.burst)
		l.buckets.Add(client, bucket)
	}
	return bucket
}
