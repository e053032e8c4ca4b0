package scheduler

import "time"

// pace is a token bucket.
type pace struct {
	rate   float64 // tokens a second; 0 for no bound
	burst  float64 // how many it holds
	tokens float64
	filled time.Time
}

// paceBurst is how much of a second may be spent at once.
const paceBurst = 10 * time.Millisecond

// newPace returns a bucket that holds the tokens of paceBurst.
func newPace(rate float64) pace { return pace{rate: rate, burst: max(1, rate*paceBurst.Seconds())} }

// allows fills the bucket and says whether there is a token.
func (p *pace) allows(now time.Time) bool {
	if p.rate == 0 {
		return true
	}
	if dt := now.Sub(p.filled); dt > 0 {
		p.tokens = min(p.burst, p.tokens+p.rate*dt.Seconds())
		p.filled = now
	}
	return p.tokens >= 1
}

func (p *pace) spend() { p.tokens-- }

// next is when there will be a token, after allows has said that there is none.
func (p *pace) next(now time.Time) time.Time {
	return now.Add(time.Duration((1 - p.tokens) / p.rate * float64(time.Second)))
}
