package public

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"vayu/schema"
)

const (
	// perSecond and burst limit the requests of one address. A map of a large screen has about 60 tiles. Mobile networks
	// in India put thousands of people behind one IPv4 address, so the limit is above that of a key.
	perSecond = 100
	burst     = 1000
	// maxClients bounds the memory of the limits to about 10 MB. Above it the address that was idle longest is
	// forgotten.
	maxClients = 50_000
	// networkBits is the length of the IPv6 networks that count as one address, because a subscriber has such a network.
	networkBits = 64
)

// clients are the token buckets of addresses. It is safe for concurrent use.
type clients struct {
	mu      sync.Mutex
	buckets *lru.Cache[netip.Addr, *rate.Limiter]
}

func newClients() *clients {
	buckets, _ := lru.New[netip.Addr, *rate.Limiter](maxClients) // fails only if the size is not positive
	return &clients{buckets: buckets}
}

// admit takes a token of an address. The error is a *schema.Problem if the address has none left.
func (c *clients) admit(address netip.Addr, now time.Time) error {
	bucket := c.bucket(address)
	if bucket.AllowN(now, 1) {
		return nil
	}
	p := schema.NewProblem(schema.RateLimited, "", fmt.Sprintf("An address can send %d requests per second. Use a key, or a cache in front.", perSecond))
	p.RetryAfter = max(1, int(math.Ceil((1-bucket.TokensAt(now))/perSecond)))
	return p
}

func (c *clients) bucket(address netip.Addr) *rate.Limiter {
	if address.Is6() {
		if network, err := address.Prefix(networkBits); err == nil {
			address = network.Addr()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	bucket, ok := c.buckets.Get(address)
	if !ok {
		bucket = rate.NewLimiter(perSecond, burst)
		c.buckets.Add(address, bucket)
	}
	return bucket
}
