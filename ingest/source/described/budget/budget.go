// Package budget limits the calls of an API by a source. The limits come from the source's description and from the
// replies of the API.
package budget

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/internal/config/section"
)

// Rule has the limits of API calls that a source description states.
type Rule struct {
	limits                       []callLimit
	resetHeader, remainingHeader string
}

// callLimit permits at most the given number of calls in any period of the length `per`.
type callLimit struct {
	calls int
	per   time.Duration
}

const mostCalls = 100_000

// Read reads the section `budget` of a description. A limit is a text such as "60/1m".
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

// limited reports whether the rule limits calls at all. If so, processes must share the count of calls.
func (r *Rule) limited() bool { return len(r.limits) > 0 || r.resetHeader != "" }

// budget counts the calls and decides when the next one is allowed. It does not read the clock; times are arguments.
type budget struct {
	rule    Rule
	calls   []spent   // the latest calls in order, including future calls that are reserved
	blocked time.Time // the API has refused calls until this time
}

// spent is a number of API calls that were made at one time.
type spent struct {
	at time.Time
	n  int
}

// next returns the earliest allowed time of the next call, not before now. Background calls, such as those of a
// backfill, may use only four fifths of a limit but at least one call. The rest is reserved for other calls.
func (b *budget) next(now time.Time, background bool) time.Time {
	at := now
	if b.blocked.After(at) {
		at = b.blocked
	}
	for _, l := range b.rule.limits {
		most := l.calls
		if background {
			most = max(1, most*4/5)
		}
		if free := b.latest(most).Add(l.per); free.After(at) {
			at = free
		}
	}
	return at
}

// latest returns the time of the n-th last call, or the zero time if there were fewer calls.
func (b *budget) latest(n int) time.Time {
	for _, c := range slices.Backward(b.calls) {
		if n -= c.n; n <= 0 {
			return c.at
		}
	}
	return time.Time{}
}

// maxSpent is the largest length of the list budget.calls. If it is longer, spend merges the oldest maxSpent/2 elements
// in pairs. All calls of a pair then count at the later time of the two, so no limit is ever exceeded.
const maxSpent = 1000

// spend counts a call at the time `at`, and drops calls that no limit covers any more. Without limits it does nothing.
func (b *budget) spend(at, now time.Time) {
	var longest time.Duration
	for _, l := range b.rule.limits {
		longest = max(longest, l.per)
	}
	if longest == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(b.calls, at, func(c spent, at time.Time) int { return c.at.Compare(at) })
	b.calls = slices.Insert(b.calls, i, spent{at, 1})
	oldest := now.Add(-longest)
	b.calls = slices.DeleteFunc(b.calls, func(c spent) bool { return c.at.Before(oldest) })
	if len(b.calls) <= maxSpent {
		return
	}
	kept := b.calls[:0]
	for pair := range slices.Chunk(b.calls[:maxSpent/2], 2) {
		kept = append(kept, spent{pair[1].at, pair[0].n + pair[1].n})
	}
	b.calls = append(kept, b.calls[maxSpent/2:]...)
}

// state is the stored form of a budget. Times are microseconds since 1970.
type state struct {
	Blocked int64   `json:"blocked"`
	At      []int64 `json:"at"`
	Calls   []int   `json:"calls"`
}

// encode returns the budget as JSON.
func (b *budget) encode() ([]byte, error) {
	up := time.Microsecond - time.Nanosecond // rounds up: a call must not be stored with a time before it was made
	s := state{Blocked: b.blocked.UnixMicro(), At: make([]int64, len(b.calls)), Calls: make([]int, len(b.calls))}
	for i, c := range b.calls {
		s.At[i], s.Calls[i] = c.at.Add(up).UnixMicro(), c.n
	}
	return json.Marshal(s)
}

// decode sets the budget from the JSON that encode returns. It leaves the budget unchanged if the text is invalid.
func (b *budget) decode(text []byte) {
	var s state
	if json.Unmarshal(text, &s) != nil || len(s.At) != len(s.Calls) {
		return
	}
	b.blocked, b.calls = time.UnixMicro(s.Blocked), make([]spent, len(s.At))
	for i := range s.At {
		b.calls[i] = spent{time.UnixMicro(s.At[i]), s.Calls[i]}
	}
}

// observe sets until when calls are blocked, from the headers of a reply. `refused` means that the API has refused the
// call because of a limit. If such a reply states no time, observe blocks calls for defaultPause.
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

// defaultPause is how long observe blocks calls if a refusal states no time. Most limits of APIs are per minute.
const defaultPause = time.Minute

// retryAfter parses the header Retry-After: a number of seconds, or a date (RFC 9110, 10.2.3). It returns the zero time
// if the header is missing or invalid, or if the date has passed.
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

// leastEpoch is the least number that resetTime reads as a Unix time. That time is in 2001.
const leastEpoch = 1e9

// resetTime parses the time at which a limit is reset: a number of seconds from now, or a Unix time. It returns the
// zero time for an invalid text.
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
