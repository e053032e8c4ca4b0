package scheduler

import "time"

// tokenBucket is a rate limit: an action spends a token, and tokens return at a rate.
type tokenBucket struct {
	rate   float64 // tokens per second; 0 for no limit
	burst  float64 // capacity
	tokens float64
	filled time.Time
}

// burstTime is the duration whose tokens may be spent at once.
const burstTime = 10 * time.Millisecond

// newTokenBucket returns a bucket with the capacity of burstTime.
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

// next returns when there will be a token. allows must have returned false before.
func (p *tokenBucket) next(now time.Time) time.Time {
	return now.Add(time.Duration((1 - p.tokens) / p.rate * float64(time.Second)))
}
