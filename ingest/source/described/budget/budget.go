// Package budget limits the calls of a source, by its description and by what the API
// states.
package budget

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vayu/internal/config/section"
)

// Rule limits the calls of a source.
type Rule struct {
	limits                       []callLimit
	resetHeader, remainingHeader string
}

// callLimit limits the number of calls in any period of the given length.
type callLimit struct {
	calls int
	per   time.Duration
}

const mostCalls = 100_000

// Read reads the section budget. Its calls are texts such as "60/1m".
func Read(s *section.Section) Rule {
	b := Rule{resetHeader: s.Text("reset-header"), remainingHeader: s.Text("remaining-header")}
	for _, e := range s.List("calls") {
		count, per, _ := strings.Cut(e.Text, "/")
		n, err := strconv.Atoi(count)
		d, perErr := time.ParseDuration(per)
		if err != nil || perErr != nil || n < 1 || n > mostCalls || d < time.Second || d > 31*24*time.Hour {
			s.FaultAt(e.Line, "calls", fmt.Errorf(`%q must be a number of calls and a period, such as "60/1m"`, e.Text))
			continue
		}
		b.limits = append(b.limits, callLimit{n, d})
	}
	if b.remainingHeader != "" && b.resetHeader == "" {
		s.Faultf("remaining-header", "needs reset-header")
	}
	return b
}

// budget counts calls. It does not read the clock: times are arguments.
type budget struct {
	rule    Rule
	calls   []time.Time // times of the latest calls, in order
	blocked time.Time   // the API refuses calls before this time
}

// next returns the time of the next allowed call, not before now.
func (b *budget) next(now time.Time) time.Time {
	at := now
	if b.blocked.After(at) {
		at = b.blocked
	}
	for _, l := range b.rule.limits {
		if n := len(b.calls); n >= l.calls {
			if free := b.calls[n-l.calls].Add(l.per); free.After(at) {
				at = free
			}
		}
	}
	return at
}

func (b *budget) spend(at time.Time) {
	most := 0
	for _, l := range b.rule.limits {
		most = max(most, l.calls)
	}
	if most == 0 {
		return
	}
	b.calls = append(b.calls, at)
	if len(b.calls) >= 2*most {
		b.calls = append(b.calls[:0], b.calls[len(b.calls)-most:]...)
	}
}

// observe reads the limits that a reply states. refused means that the API refused the
// call because of a limit.
func (b *budget) observe(h http.Header, refused bool, now time.Time) {
	until := retryAfter(h.Get("Retry-After"), now)
	if b.rule.resetHeader != "" && until.IsZero() {
		used := refused || b.rule.remainingHeader != "" && strings.TrimSpace(h.Get(b.rule.remainingHeader)) == "0"
		if used {
			until = resetTime(h.Get(b.rule.resetHeader), now)
		}
	}
	if refused && until.IsZero() {
		until = now.Add(defaultPause)
	}
	if until.After(b.blocked) {
		b.blocked = until
	}
}

// defaultPause follows a refusal that states no time. It is the usual period of limits.
const defaultPause = time.Minute

// retryAfter parses the header Retry-After: seconds or a date (RFC 9110, 10.2.3).
func retryAfter(text string, now time.Time) time.Time {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return now.Add(time.Duration(n) * time.Second)
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at
	}
	return time.Time{}
}

// leastEpoch distinguishes seconds left from a Unix time: 1e9 is in the year 2001.
const leastEpoch = 1e9

// resetTime parses the time at which a limit is reset: seconds left, or Unix time.
func resetTime(text string, now time.Time) time.Time {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil || !(n >= 0 && n < 1e11):
		return time.Time{}
	case n >= leastEpoch:
		return time.Unix(int64(n), 0)
	}
	return now.Add(time.Duration(n * float64(time.Second)))
}
