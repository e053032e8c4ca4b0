package access

import (
	"math"
	"time"

	"golang.org/x/time/rate"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// bucket is the token bucket of a key, or of an account in a world, and a class of
// routes; nil when there is no limit.
type bucket struct {
	limiter *rate.Limiter
}

// newBuckets are the full buckets of a new key.
func (s *Service) newBuckets() [httpapi.LimitClasses]*bucket {
	return [httpapi.LimitClasses]*bucket{
		httpapi.Calls:   newBucket(s.Settings.Rate, s.Settings.Burst),
		httpapi.Money:   newBucket(s.Settings.MoneyRate, s.Settings.MoneyBurst),
		httpapi.Viewing: newBucket(s.Settings.Rate, s.Settings.Burst),
	}
}

// worldBuckets are the buckets of an account in each world.
type worldBuckets [len(schema.Worlds)][httpapi.LimitClasses]*bucket

// newAccountBuckets are the full buckets of a new account, which all of its keys share:
// else n keys would have n times the rate of one. They are worth some keys.
func (s *Service) newAccountBuckets() (all worldBuckets) {
	n := s.Settings.KeysWorth
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

// takeBoth takes a token of the key's bucket and one of the account's. Refused is the
// bucket that has none; nil when both had one. The key's comes first, so that a key that
// calls too often takes nothing of the account's from other keys.
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

// scarcer is the state of the bucket that has fewer calls left: the next call depends
// on that one.
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

// take takes one token, if there is one.
func (b *bucket) take(now time.Time) bool {
	return b == nil || b.limiter.AllowN(now, 1)
}

// state tells how full the bucket is.
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

// wait is how many seconds to wait for the next token, at least 1: a client
// that comes back sooner than a whole second is as likely to be refused again.
func (b *bucket) wait(now time.Time) int {
	missing := 1 - b.limiter.TokensAt(now)
	return max(1, int(math.Ceil(missing/float64(b.limiter.Limit()))))
}
