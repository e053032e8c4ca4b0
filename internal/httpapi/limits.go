package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"vayu/schema"
)

// limits writes the headers about the rate limit and the quota, if the call has these limits.
//
// RateLimit and RateLimit-Policy follow draft-ietf-httpapi-ratelimit-headers-10. The draft describes windows,
// whereas the rate limit is a token bucket. The parameter q is the bucket's size, and w is the time in seconds
// in which an empty bucket fills. A client may send q calls at once after w seconds without calls, and about
// q/w calls per second in the long term. The X- headers are for older clients, with the reset in Unix seconds.
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

// classNames are the names of the token buckets in the headers RateLimit and RateLimit-Policy.
var classNames = [LimitClasses]string{Calls: "default", Money: "money", Viewing: "viewing"}

// retryIn returns the seconds after which a rejected call may be retried; 0 if a retry does not
// help. Without a RetryAfter, retryIn estimates the time until the next month's quota begins, the
// bucket has a token again, or a dependency recovers.
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

// age writes the headers about the age of the readings in an answer.
func (x *exchange) age(resp *Response) {
	if resp.Measured == 0 {
		return
	}
	var buf [20]byte
	x.set("X-SERVICE-Data-Age", strconv.AppendInt(buf[:0], resp.DataAge, 10))
	if resp.Stale {
		x.constant("X-SERVICE-Stale", staleMark)
	}
}
