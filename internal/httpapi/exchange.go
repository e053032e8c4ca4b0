package httpapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vayu/internal/httpapi/server"
	"vayu/schema"
)

// exchange is the router's state of one request and its reply. It is one struct, for a single allocation.
type exchange struct {
	http.ResponseWriter
	call    Call
	pass    Pass                // admission of the call; nil before Admit and after end
	head    *server.HeaderBlock // nil if the router's headers go into net/http's map
	limited bool                // the method limits has written its headers
	varied  bool                // varyBy has decided the header Vary
}

// end passes the status of the reply to the Pass of the call (its admission by Access), if the call was admitted.
// Further calls of end do nothing.
func (x *exchange) end(status int) {
	pass := x.pass
	if pass == nil {
		return
	}
	x.pass = nil // before pass.End: after a panic in pass.End, end must not call it again
	pass.End(&x.call, status)
}

// newExchange starts the reply to a request with the common headers.
func (rt *router) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w}
	x.call.Request = r
	x.call.ID = requestID(r)
	x.call.Client = rt.proxies.Client(r)
	x.head = server.HeaderBlockOf(r)
	x.constant("X-Request-Id", []string{x.call.ID})
	x.constant("X-SERVICE-Version", version)
	x.constant("X-Content-Type-Options", noSniff)
	if server.Ambiguous(r) {
		w.Header()["Connection"] = closing
	}
	if r.TLS != nil {
		x.constant("Strict-Transport-Security", onlyTLS)
	}
	return x
}

// answer admits a request, reads its body, runs its handler and writes the reply.
func (rt *router) answer(x *exchange, m *method) (status int) {
	c := &x.call
	c.Count, c.Class = 1, m.Limit
	if c.BySession && m.Limit == Calls {
		c.Class = Viewing
	}
	pass, err := rt.admit(c, &m.Route)
	x.pass, c.pass = pass, pass
	if c.World == schema.Sandbox && c.Key != "" {
		x.constant("X-SERVICE-Mode", sandboxMode)
	}
	rt.varyBy(x, &m.Route)
	rt.origins.allow(x)
	var resp Response
	if err == nil {
		resp, err = rt.handle(x, m, pass)
	}
	if err == nil {
		err = resp.render()
	}
	if err != nil {
		return rt.refuse(x, err)
	}
	x.end(resp.Status)
	x.limits()
	x.age(&resp)
	rt.finalize(c, &resp)
	if resp.Stream != nil {
		return rt.stream(x.begin(), c, &resp)
	}
	return write(x.begin(), c.Request, &resp)
}

// admit calls Access.Admit, unless the endpoint needs no key.
func (rt *router) admit(c *Call, route *Route) (Pass, error) {
	if route.NoAuth {
		return NoLimits{}, nil
	}
	return rt.access.Admit(c, route)
}

// NoLimits is the Pass (admission) of calls that need no key. It checks and counts nothing.
type NoLimits struct{}

// Verify accepts every request. It implements [Pass].
func (NoLimits) Verify(*Call) error { return nil }

// Reserve always succeeds. It implements [Pass].
func (NoLimits) Reserve(*Call, int64) error { return nil }

// End does nothing. It implements [Pass].
func (NoLimits) End(*Call, int) {}

// handle checks the headers of an admitted call, reads its body, verifies its signature and serves it.
func (rt *router) handle(x *exchange, m *method, pass Pass) (Response, error) {
	c := &x.call
	if err := acceptable(c.Request, m.Type); err != nil {
		return Response{}, err
	}
	if err := c.readBody(x.ResponseWriter, &m.Route); err != nil {
		return Response{}, err
	}
	if err := pass.Verify(c); err != nil {
		return Response{}, err
	}
	return m.Serve(c)
}

// finalize adapts a reply to its request. If the client used TLS, the reply's cookie becomes Secure. For a
// browser session, the reply's Location gets SessionPrefix.
func (rt *router) finalize(c *Call, resp *Response) {
	if resp.Cookie != nil && rt.proxies.Secure(c.Request) {
		cookie := *resp.Cookie //nolint:gosec // gosec misses the next line
		cookie.Secure = true
		resp.Cookie = &cookie
	}
	if c.BySession && strings.HasPrefix(resp.Location, "/v1/") {
		resp.Location = SessionPrefix + resp.Location
	}
}

// bySession marks the call as a call of a browser session. It replaces the call's request by a copy with the given
// path, which lacks SessionPrefix, and returns the copy.
func (x *exchange) bySession(path string) *http.Request {
	r := *x.call.Request
	at := *r.URL
	at.Path, at.RawPath = path, ""
	r.URL = &at
	x.call.Request, x.call.BySession = &r, true
	return &r
}

// set writes one of the router's headers. The text in `value` must not contain line breaks.
func (x *exchange) set(name string, value []byte) {
	if x.head == nil {
		x.Header()[name] = []string{string(value)}
		return
	}
	x.head.AddBytes(name, value)
}

// constant writes one of the router's headers. The slice `value` has one element. The caller must not change it later,
// because net/http's header map may keep the slice itself.
func (x *exchange) constant(name string, value []string) {
	if x.head == nil {
		x.Header()[name] = value
		return
	}
	x.head.Add(name, value[0])
}

// begin ends the router's part of the header, and returns the writer for the rest of the reply. After begin, x must not
// use the header block, because the connection owns it. The connection releases the block when it writes the next
// status line, even that of another reply.
func (x *exchange) begin() http.ResponseWriter {
	x.head = nil
	return x.ResponseWriter
}

// varyByEncoding adds Accept-Encoding to the Vary header of a reply. On HTTP/1, the Vary line for the credential is
// already in the [server.HeaderBlock], so a second line is added.
func varyByEncoding(h http.Header) {
	if before := h["Vary"]; before != nil {
		h["Vary"] = []string{before[0] + ", " + varyHeader[0]}
		return
	}
	h["Vary"] = varyHeader
}

// varyBy writes the header Vary, so that a cache does not send the reply to another caller. Vary names the header with
// the caller's credential. If the credential is a key, and web pages of some origins may use keys (rt.origins), Vary
// also names Origin. A route without a key gets no Vary. Instead, pages of every origin may read its replies to GET.
func (rt *router) varyBy(x *exchange, route *Route) {
	x.varied = true
	switch {
	case x.call.BySession:
		x.constant("Vary", varyCookie)
	case route.NoAuth && route.Method == http.MethodGet:
		x.constant("Access-Control-Allow-Origin", everyPage)
		x.constant("Access-Control-Expose-Headers", []string{"ETag, Retry-After, X-Request-Id"})
	case route.NoAuth:
	case len(rt.origins) > 0:
		x.constant("Vary", varyKeyOrigin)
	default:
		x.constant("Vary", varyKey)
	}
}

// limits writes the headers about the rate limit and the quota, if the call has these limits.
//
// RateLimit and RateLimit-Policy follow draft-ietf-httpapi-ratelimit-headers-10. The draft describes windows, whereas
// the rate limit is a token bucket. The parameter q is the bucket's size, and w is the time in seconds in which an
// empty bucket fills. A client may send q calls at once after w seconds without calls, and about q/w calls per second
// in the long term. The X- headers are for older clients, with the reset in Unix seconds.
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
	v := append(room[:0], classNames[x.call.Class]...)
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

// classNames are the quoted names of the token buckets in the headers RateLimit and RateLimit-Policy.
var classNames = [LimitClasses]string{Calls: `"default"`, Money: `"money"`, Viewing: `"viewing"`}

// age writes the headers about the age of the readings in an answer. An answer without readings gets none.
func (x *exchange) age(resp *Response) {
	if resp.Measured == 0 {
		return
	}
	x.number("X-SERVICE-Data-Age", resp.DataAge)
	if resp.Stale {
		x.constant("X-SERVICE-Stale", staleMark)
	}
}

// render sets the default status and encodes Value into Body. If the status is 200 and Cache is set, it also adds the
// ETag of an encoded Value. It runs before anything is sent, so an encoding error can still become an error reply.
func (resp *Response) render() (err error) {
	resp.Status = cmp.Or(resp.Status, http.StatusOK)
	if resp.Value != nil {
		resp.Body, err = json.Marshal(resp.Value)
		if resp.Status == http.StatusOK && resp.Cache != nil && resp.ETag == nil {
			resp.ETag = []string{ETag(resp.Body)}
		}
	}
	return err
}
