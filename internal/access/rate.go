package access

import (
	"math"
	"time"

	"golang.org/x/time/rate"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// bucket is the token bucket of a key, or of an account in one world (live or sandbox), for one class of
// endpoints. Each call takes a token. A nil bucket has no limit.
type bucket struct {
	limiter *rate.Limiter
}

// newBuckets returns the full buckets of a new key.
func (s *Service) newBuckets() [httpapi.LimitClasses]*bucket {
	return [httpapi.LimitClasses]*bucket{
		httpapi.Calls:   newBucket(s.Settings.Rate, s.Settings.Burst),
		httpapi.Money:   newBucket(s.Settings.MoneyRate, s.Settings.MoneyBurst),
		httpapi.Viewing: newBucket(s.Settings.Rate, s.Settings.Burst),
	}
}

// worldBuckets are the buckets of an account, by world.
type worldBuckets [len(schema.Worlds)][httpapi.LimitClasses]*bucket

// newAccountBuckets returns the full buckets that all keys of an account share. Without them, n keys would have
// n times the rate of one key.
func (s *Service) newAccountBuckets() (all worldBuckets) {
	n := s.Settings.AccountFactor
	if n == 0 {
		return all
	}
	for w := range all {
		all[w] = [httpapi.LimitClasses]*bucket{
			httpapi.Calls:   newBucket(n*s.Settings.Rate, n*s.Settings.Burst),
			httpapi.Money:   newBucket(n*s.Settings.MoneyRate, n*s.Settings.MoneyBurst),
			httpapi.Viewing: newBucket(n*s.Settings.Rate, n*s.Settings.Burst),
		}
	}
	return all
}

// takeBoth takes a token from the key's bucket and one from the account's. It returns the first bucket that was
// empty, or nil. A key over its own limit takes no token from the account, which other keys share.
func takeBoth(key, account *bucket, now time.Time) (refused *bucket) {
	switch {
	case !key.take(now):
		return key
	case !account.take(now):
		return account
	default:
		return nil
	}
}

// scarcer returns the state of the bucket with fewer tokens left, which limits the next call.
func scarcer(key, account *bucket, now time.Time) httpapi.Rate {
	of, shared := key.state(now), account.state(now)
	if of.Burst == 0 || shared.Burst > 0 && shared.Remaining < of.Remaining {
		return shared
	}
	return of
}

func newBucket(perSecond, burst int) *bucket {
	if perSecond <= 0 {
		return nil
	}
	return &bucket{rate.NewLimiter(rate.Limit(perSecond), burst)}
}

// take takes one token, and reports whether one was available.
func (b *bucket) take(now time.Time) bool {
	return b == nil || b.limiter.AllowN(now, 1)
}

// state returns the fill level of the bucket.
func (b *bucket) state(now time.Time) httpapi.Rate {
	if b == nil {
		return httpapi.Rate{}
	}
	tokens, perSecond, burst := b.limiter.TokensAt(now), float64(b.limiter.Limit()), b.limiter.Burst()
	return httpapi.Rate{
		PerSecond: int(perSecond),
		Burst:     burst,
		Remaining: max(0, int(tokens)),
		Reset:     int(math.Ceil((float64(burst) - tokens) / perSecond)),
	}
}

// wait returns the seconds until the next token, at least 1.
func (b *bucket) wait(now time.Time) int {
	missing := 1 - b.limiter.TokensAt(now)
	return max(1, int(math.Ceil(missing/float64(b.limiter.Limit()))))
}
