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

// classBuckets are buckets by the class of endpoints.
type classBuckets [httpapi.LimitClasses]*bucket

// newBuckets returns full buckets with n times the rate of one key.
func (s Settings) newBuckets(n int) classBuckets {
	return classBuckets{
		httpapi.Calls:   newBucket(n*s.Rate, n*s.Burst),
		httpapi.Money:   newBucket(n*s.MoneyRate, n*s.MoneyBurst),
		httpapi.Viewing: newBucket(n*s.Rate, n*s.Burst),
	}
}

// worldBuckets are the buckets of an account, by world (live or sandbox). All keys of the account share them.
// Without shared buckets, n keys would have n times the rate of one key.
type worldBuckets [len(schema.Worlds)]classBuckets

// newWorldBuckets returns the full buckets of a new account. If AccountFactor is 0, the buckets have no limit.
func (s Settings) newWorldBuckets() *worldBuckets {
	all := &worldBuckets{}
	for w := range all {
		all[w] = s.newBuckets(s.AccountFactor)
	}
	return all
}

// takeBoth takes a token from the key's bucket and one from the account's bucket. It returns the first bucket that
// was empty, or nil. A call of a key with an empty bucket takes no token from the account, because other keys
// share the account's bucket.
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

// scarcer returns the state of the bucket with fewer tokens left. It ignores a bucket that has no limit.
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

// take takes one token, and reports whether the bucket had a token.
func (b *bucket) take(now time.Time) bool {
	return b == nil || b.limiter.AllowN(now, 1)
}

// state returns the limit of the bucket and the tokens left. The zero Rate means no limit.
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
