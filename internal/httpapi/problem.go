package httpapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"vayu/schema"
)

var errPanic = errors.New("panic")

// problemOf converts an error to the problem (error body) that the client gets. For an error that is not a
// *schema.Problem, it returns a general text, because the text of the error may contain SQL or addresses.
func problemOf(err error) *schema.Problem {
	if p, ok := errors.AsType[*schema.Problem](err); ok {
		return p
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return schema.NewProblem(schema.ServiceUnavailable, "", "The request timed out. Retry it.")
	}
	return schema.NewProblem(schema.InternalError, "", "Internal error. Include the request id in a support request.")
}

// keyText matches an API key.
var keyText = regexp.MustCompile(`sk_(live|test)_[0-9A-Za-z]+`)

// pathOf returns the path of a request for logs, with any API key masked.
func pathOf(r *http.Request) string {
	return keyText.ReplaceAllString(r.URL.Path, "sk_${1}_***")
}

// refuse replies with an error body for err, and returns its status. It writes all error replies of the router.
func (rt *router) refuse(x *exchange, err error) int {
	p := problemOf(err)
	status := cmp.Or(p.Status, p.Code.Status())
	r, id := x.call.Request, x.call.ID
	if status >= http.StatusInternalServerError && r.Context().Err() == nil {
		level := slog.LevelWarn // a temporary failure
		if status == http.StatusInternalServerError {
			level = slog.LevelError
		}
		rt.log.Log(r.Context(), level, "request failed", "request", id, "method", r.Method, "path", pathOf(r),
			"status", status, "code", p.Code, "error", err)
	}
	x.end(status)
	x.limits()
	if !x.varied && strings.HasPrefix(r.URL.Path, "/v1/") { // the router rejected the request before it found the endpoint
		rt.varyBy(x, &Route{})
	}
	h := x.Header()
	switch {
	case status == http.StatusUnauthorized:
		h["Www-Authenticate"] = bearer
	case p.Allow != "":
		h["Allow"] = []string{p.Allow}
	}
	if retry := retryIn(p, &x.call.Limits); retry > 0 {
		h["Retry-After"] = []string{strconv.Itoa(retry)}
	}
	resp := Response{Status: status, Value: p.Body(id)}
	if err := resp.render(); err != nil {
		rt.log.Error("writing an error", "request", id, "error", err)
	}
	return write(x.begin(), r, &resp)
}

// retryAfter is the default Retry-After of a 503, in seconds. The embedded ClickHouse engine restarts within this time.
const retryAfter = 5

// retryIn returns the seconds after which a rejected call may be retried, or 0 if a retry does not help. It returns
// p.RetryAfter if that is set. Otherwise it returns the time until the next month for an exceeded quota, one second for
// another error of status 429, and the constant retryAfter for a retryable error of status 503.
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
