package access

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"vayu/internal/access/quota"
	"vayu/internal/access/session"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// pass is an admitted call, with its key and the usage that it adds to its account.
type pass struct {
	service *Service
	key     *cachedKey
	usage   quota.Call
	// unsigned means that the key needs a signature, and no signature is verified yet. The caller may still be
	// a thief of the key, so an unsigned call is not counted towards the quota.
	unsigned bool
}

// Admit finds the key of a call and checks address, scope, rate and quota. It implements httpapi.Access.
func (s *Service) Admit(c *httpapi.Call, route *httpapi.Route) (httpapi.Pass, error) {
	p, err := s.admit(c, route)
	if err != nil {
		s.metrics.refusedBy(err)
		return nil, err
	}
	return p, nil
}

func (s *Service) admit(c *httpapi.Call, route *httpapi.Route) (*pass, error) {
	now := s.Now()
	k, err := s.identify(c, now)
	if err != nil {
		return nil, err
	}
	if k.world == schema.Sandbox && !reads(c) {
		c.Request = c.WithContext(sqlstore.WithWorld(c.Context(), k.world)) // tells the store to prefer changes of the live world
	}
	p := &pass{service: s, key: k, usage: k.account.usage.Begin(k.world, route.Method, route.Path, k.id, now)}
	p.unsigned = k.requireSignature && !c.BySession
	if refusal := p.authorize(c, route, now); refusal != nil {
		p.usage.End(true, 0)
		return nil, refusal
	}
	return p, nil
}

// reads reports whether a call is read-only, by its method.
func reads(c *httpapi.Call) bool { return c.Method == http.MethodGet || c.Method == http.MethodHead }

// authorize decides whether the key may make this call now. It checks the client's address and the key's scope, then
// the rate limits and the quota. It does not check the quota of a call if isDashboardRead returns true for the call.
func (p *pass) authorize(c *httpapi.Call, route *httpapi.Route, now time.Time) *schema.Problem {
	k := p.key
	if !allows(k.account.allow, c.Client) || !allows(k.allow, c.Client) {
		return schema.NewProblem(schema.IPNotAllowed, "", "The allow-list of the API key or of its account does not contain the address "+c.Client.String()+".")
	}
	own, shared := k.state.buckets[c.Class], k.account.buckets[k.world][c.Class]
	permitted := route.Scope == "" || k.scopes.Has(schema.Scope(route.Scope))
	var empty *bucket
	if permitted {
		empty = takeBoth(own, shared, now)
	}
	if c.Limits.Rate = scarcer(own, shared, now); empty != nil {
		c.Limits.Rate = empty.state(now)
	}

	c.Limits.Quota = p.usage.State()
	switch {
	case !permitted:
		return schema.NewProblem(schema.InsufficientScope, "", "The API key lacks the scope "+route.Scope+".")
	case empty != nil:
		who := "the API key can make "
		if empty == shared {
			who = "all keys of the account together can make "
		}
		refusal := schema.NewProblem(schema.RateLimited, "", "Too many calls: "+who+strconv.Itoa(c.Limits.Rate.PerSecond)+" of this kind per second.")
		refusal.RetryAfter = empty.wait(now)
		return refusal
	case !isDashboardRead(c, route) && !p.usage.Admit(isExempt(route)):
		refusal := schema.NewProblem(schema.QuotaExceeded, "", "The account has used all calls of its plan for this month.")
		refusal.RetryAfter = p.usage.SecondsLeft(now)
		return refusal
	}
	return nil
}

// Reserve raises the call's reservation to n calls of the account's quota. It implements httpapi.Pass.
func (p *pass) Reserve(_ *httpapi.Call, n int64) error {
	left, ok := p.usage.Reserve(n)
	if ok {
		return nil
	}
	refusal := schema.NewProblem(schema.QuotaExceeded, "", fmt.Sprintf("This request counts as %d calls, and the account has %d left this month. Nothing was done.", n, left))
	refusal.RetryAfter = p.usage.SecondsLeft(p.service.Now())
	refusal.Retryable = n <= p.usage.State().Limit // next month's quota will suffice
	p.service.metrics.refusedBy(refusal)
	return refusal
}

// allows reports whether an allow-list contains an address. An empty list allows every address.
func allows(list []netip.Prefix, client netip.Addr) bool {
	if len(list) == 0 {
		return true
	}
	client = client.Unmap().WithZone("")
	for _, network := range list {
		if network.Contains(client) {
			return true
		}
	}
	return false
}

// End counts a call and settles its quota reservation, before the reply's header is sent. It implements httpapi.Pass.
func (p *pass) End(c *httpapi.Call, status int) {
	counted := int64(0)
	if counts(status) && !p.unsigned {
		counted = max(1, c.Count)
	}
	c.Limits.Quota = p.usage.End(status >= 400, counted)
}

// isExempt reports whether an endpoint is for account data, keys or sessions. The quota never rejects calls of such an
// endpoint. A user with no calls left can therefore still sign in, read the usage and revoke a leaked key.
func isExempt(route *httpapi.Route) bool {
	return route.Scope == string(schema.AccountRead) || route.Scope == string(schema.KeysManage) || strings.HasPrefix(route.Path, session.Path)
}

// isDashboardRead reports whether a call signs in, switches the mode, or reads data about the account in a browser
// session. Such data are keys, usage, audit log, sessions, webhooks and the SSE stream (Server-Sent Events). These
// calls count as usage but not towards the quota. Otherwise looking at the dashboard would use up the quota. Other
// calls of a session, for example about readings or recharges, count as calls of a key do.
func isDashboardRead(c *httpapi.Call, route *httpapi.Route) bool {
	if !c.BySession || !reads(c) {
		return route.Method == http.MethodPost && strings.HasPrefix(route.Path, session.Path)
	}
	switch schema.Scope(route.Scope) {
	case "", schema.AccountRead, schema.KeysManage, schema.WebhooksManage:
		return true
	default:
		return false
	}
}

// counts reports whether a call with this status counts towards the quota. Only replies that reject the caller do not
// count: 401, 403 and 429.
func counts(status int) bool { return status != 401 && status != 403 && status != 429 }
