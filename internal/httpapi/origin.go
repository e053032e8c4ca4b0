package httpapi

import (
	"net/http"
	"slices"
)

// origins has the origins of the web pages that may use the keys of an account, by the id of the account.
type origins map[string][]string

// allow writes the headers that let a web page read the reply to its call, and reports whether it wrote them. The
// call's account must list the page's origin. Without a valid key, it suffices that any account lists the origin, so
// that the page can read the error. allow writes nothing for a call with a session, or on a route that needs no key.
func (o origins) allow(x *exchange) bool {
	c := &x.call
	origin := c.Request.Header["Origin"]
	if len(o) == 0 || len(origin) != 1 || c.BySession || c.pass == (NoLimits{}) {
		return false
	}
	for account, list := range o {
		if (c.Account == "" || c.Account == account) && slices.Contains(list, origin[0]) {
			x.constant("Access-Control-Allow-Origin", origin)
			x.constant("Access-Control-Expose-Headers", pageExposed)
			return true
		}
	}
	return false
}

// preflight answers a CORS preflight request, which has no key, and reports whether it answered. Web pages may only
// read, because a page cannot keep a key secret, and other methods may move money. If `public` is true (the path needs
// no key), every page may read. Otherwise an account must list the origin of the page.
func (o origins) preflight(x *exchange, public bool) bool {
	r := x.call.Request
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" || !public && !o.allow(x) {
		return false
	}
	if public {
		x.constant("Access-Control-Allow-Origin", everyPage)
	}
	x.set("Access-Control-Allow-Methods", []byte("GET, HEAD"))
	x.set("Access-Control-Allow-Headers", []byte("Authorization, If-None-Match, Range, X-Request-Id, X-SERVICE-Version, X-SERVICE-Request-Signature"))
	x.set("Access-Control-Max-Age", []byte("7200")) // seconds; the longest time that Chromium caches a preflight
	x.set("Vary", []byte("Origin, Access-Control-Request-Method, Access-Control-Request-Headers"))
	x.begin().WriteHeader(http.StatusNoContent)
	return true
}
