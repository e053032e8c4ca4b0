package account

import (
	"math"
	"time"

	"golang.org/x/time/rate"

	"vayu/internal/api"
)

// bucket is the token bucket of a key and a class of routes; nil when there is
// no limit.
type bucket struct {
	limiter *rate.Limiter
}

// newBuckets are the full buckets of a new key.
func (s *Service) newBuckets() [api.LimitClasses]*bucket {
	return [api.LimitClasses]*bucket{
		api.Calls:   newBucket(s.Settings.Rate, s.Settings.Burst),
		api.Money:   newBucket(s.Settings.MoneyRate, s.Settings.MoneyBurst),
		api.Viewing: newBucket(s.Settings.Rate, s.Settings.Burst),
	}
}

func newBucket(perSecond, burst int) *bucket {
	if perSecond <= 0 {
		return nil
	}
	return &bucket{rate.NewLimiter(rate.Limit(perSecond), burst)}
}

// take takes one token, if there is one.
func (b *bucket) take(now time.Time) bool {
	return b == nil || b.limiter.AllowN(now, 1)
}

// state tells how full the bucket is.
func (b *bucket) state(now time.Time) api.Rate {
	if b == nil {
		return api.Rate{}
	}
	tokens, perSecond, burst := b.limiter.TokensAt(now), float64(b.limiter.Limit()), b.limiter.Burst()
	return api.Rate{
		PerSecond: int(perSecond),
		Burst:     burst,
		Remaining: max(0, int(tokens)),
		Reset:     int(math.Ceil((float64(burst) - tokens) / perSecond)),
	}
}

// wait is how many seconds to wait for the next token, at least 1: a client
// that comes back sooner than a whole second is as likely to be refused again.
func (b *bucket) wait(now time.Time) int {
	missing := 1 - b.limiter.TokensAt(now)
	return max(1, int(math.Ceil(missing/float64(b.limiter.Limit()))))
}
