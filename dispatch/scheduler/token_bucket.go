package scheduler

import "time"

// tokenBucket is a rate limit: each action takes a token, and the bucket gets new tokens at a constant rate.
type tokenBucket struct {
	rate   float64 // tokens per second; 0 for no limit
	burst  float64 // capacity
	tokens float64
	filled time.Time
}

// burstTime determines the capacity of a new bucket: the number of tokens that it gets in burstTime, but at least one.
const burstTime = 10 * time.Millisecond

// newTokenBucket returns a bucket that gets `rate` tokens a second. The first call of the method `allows` fills it.
func newTokenBucket(rate float64) tokenBucket {
	return tokenBucket{rate: rate, burst: max(1, rate*burstTime.Seconds())}
}

// allows refills the bucket and reports whether it has a token.
func (p *tokenBucket) allows(now time.Time) bool {
	if p.rate == 0 {
		return true
	}
	if dt := now.Sub(p.filled); dt > 0 {
		p.tokens = min(p.burst, p.tokens+p.rate*dt.Seconds())
		p.filled = now
	}
	return p.tokens >= 1
}

func (p *tokenBucket) spend() { p.tokens-- }

// next returns when the bucket has a token; a past time if it has one now. The caller must have called `allows` before.
func (p *tokenBucket) next(now time.Time) time.Time {
	return now.Add(time.Duration((1 - p.tokens) / p.rate * float64(time.Second)))
}
