package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"vayu/schema"
)

// limits writes the headers that tell a client how much is left, as far as the
// call's Limits are known.
//
// RateLimit and RateLimit-Policy follow draft-ietf-httpapi-ratelimit-headers-10.
// Its policies are windows, ours is a bucket that refills all the time. What
// fits is the bucket's size as the quota and the time in which an empty one
// becomes full as the window: q calls at once are never too many when none came
// in the w seconds before, and over a long time q/w is the bucket's rate. The X-
// headers say the same for older clients, with the Unix second of the reset.
func (x *exchange) limits() {
	if x.limited {
		return
	}
	x.limited = true
	if rate := &x.call.Limits.Rate; rate.Burst > 0 {
		fill := max(rate.PerSecond, 1)
		x.policy("RateLimit-Policy", `;q=`, rate.Burst, `;w=`, (rate.Burst+fill-1)/fill)
		x.policy("RateLimit", `;r=`, rate.Remaining, `;t=`, rate.Reset)
		x.number("X-RateLimit-Limit", int64(rate.Burst))
		x.number("X-RateLimit-Remaining", int64(rate.Remaining))
		x.number("X-RateLimit-Reset", time.Now().Unix()+int64(rate.Reset))
	}
	if quota := &x.call.Limits.Quota; quota.Limit > 0 {
		x.number("X-Quota-Limit", quota.Limit)
		x.number("X-Quota-Used", quota.Used)
		x.number("X-Quota-Reset", quota.Reset)
	}
}

func (x *exchange) policy(name, first string, a int, second string, b int) {
	var room [64]byte
	v := append(room[:0], '"')
	v = append(v, classNames[x.LimitClass]...)
	v = append(v, '"')
	v = append(v, first...)
	v = strconv.AppendInt(v, int64(a), 10)
	v = append(v, second...)
	v = strconv.AppendInt(v, int64(b), 10)
	x.set(name, v)
}

func (x *exchange) number(name string, v int64) {
	var room [20]byte
	x.set(name, strconv.AppendInt(room[:0], v, 10))
}

// classNames are the buckets as clients know them.
var classNames = [LimitClasses]string{Calls: "default", Money: "money", Viewing: "viewing"}

// retryIn is how long in seconds a refused call should wait, when whoever
// refused it did not say: until the month ends, a bucket gives the next call, or what
// is away may be back; 0 when asking again does not help.
func retryIn(p *schema.Problem, l *Limits) int {
	switch {
	case p.RetryAfter > 0:
		return p.RetryAfter
	case p.Code == schema.QuotaExceeded:
		return max(1, int(l.Quota.Reset-time.Now().Unix()))
	case p.Code.Status() == http.StatusTooManyRequests:
		return 1
	case p.Code.Status() == http.StatusServiceUnavailable && p.Retryable:
		return retryAfter
	default:
		return 0
	}
}
