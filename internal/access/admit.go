package access

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// pass is the leave of one call.
type pass struct {
	service *Service
	grant   *grant
	day     *daily // in which the call came
	counter *counter
	// unsigned says that the key needs a signature and none was found good yet:
	// until then anybody who has seen the key may be asking.
	unsigned bool
	// limit is the quota that the call is held to; 0 for none.
	limit int64
	// reserved is how many calls of the quota are taken for this one; 0 for one that
	// counts nothing.
	reserved int64
}

// Admit implements httpapi.Access.
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
	g, err := s.identify(c, now)
	if err != nil {
		return nil, err
	}
	if g.world == schema.Sandbox && !reads(c) {
		c.Request = c.WithContext(sqlstore.InWorld(c.Context(), g.world)) // its changes let live ones go first
	}
	p := &pass{service: s, grant: g, day: g.account.tally.dayAt(g.world, now)}
	p.unsigned = g.requireSignature && !c.BySession
	p.counter = p.day.counter(operation{route.Method, route.Path})
	s.ledger.touch(g, now)
	if refusal := p.ask(c, route, now); refusal != nil {
		s.ledger.count(p.day, p.counter, true, 0)
		return nil, refusal
	}
	return p, nil
}

// reads reports whether a call changes nothing.
func reads(c *httpapi.Call) bool { return c.Method == http.MethodGet || c.Method == http.MethodHead }

// Refusals of keys.
var (
	errUnknownKey = schema.Refuse(schema.Unauthorized, "", "The API key is not known.")
	errRevokedKey = schema.Refuse(schema.KeyRevoked, "", "The API key was revoked.")
	errExpiredKey = schema.Refuse(schema.KeyExpired, "", "The API key has expired.")
)

// identify finds the key of a call, which is good now, and says whom the call
// speaks for.
func (s *Service) identify(c *httpapi.Call, now time.Time) (*grant, error) {
	find := s.keyOf
	if c.BySession {
		find = s.keyOfSession
	}
	g, err := find(c, now)
	if err != nil {
		return nil, err
	}
	c.Principal = httpapi.Principal{World: g.world, Account: g.account.id, Key: g.id, Scopes: g.scopes}
	switch {
	case g.revokedAt != 0 && now.UnixMicro() >= g.revokedAt:
		return nil, errRevokedKey
	case g.expiresAt != 0 && now.UnixMicro() >= g.expiresAt:
		return nil, errExpiredKey
	}
	return g, nil
}

// keyOf finds the key that a call has in its header. What is no key gets one answer,
// whatever is wrong with it.
func (s *Service) keyOf(c *httpapi.Call, _ time.Time) (*grant, error) {
	key, err := httpapi.BearerKey(c.Request)
	if err != nil {
		return nil, err
	}
	if _, ok := wellFormed(key); ok {
		if g := s.seek(c.Context(), hashKey(key)); g != nil {
			return g, nil
		}
	}
	return nil, errUnknownKey
}

// ask decides whether a known key may make this call now, and takes what the
// call needs of the key's bucket and the account's quota.
func (p *pass) ask(c *httpapi.Call, route *httpapi.Route, now time.Time) *schema.Problem {
	g := p.grant
	if !allows(g.account.allow, c.Client) || !allows(g.allow, c.Client) {
		return schema.Refuse(schema.IPNotAllowed, "", "The API key may not be used from the address "+c.Client.String()+".")
	}
	own, shared := g.memory.buckets[c.Class(route)], g.account.tally.buckets[g.world][c.Class(route)]
	permitted := route.Scope == "" || g.scopes.Has(schema.Scope(route.Scope))
	var empty *bucket
	if permitted {
		empty = takeBoth(own, shared, now)
	}
	if c.Limits.Rate = scarcer(own, shared, now); empty != nil {
		c.Limits.Rate = empty.state(now)
	}
	m := p.day.month
	if m != nil && g.account.limit != 0 {
		c.Limits.Quota = httpapi.Quota{Limit: g.account.limit, Used: m.used.Load(), Reset: m.ends}
	}
	switch {
	case !permitted:
		return schema.Refuse(schema.InsufficientScope, "", "The API key lacks the scope "+route.Scope+".")
	case empty != nil:
		who := "the API key may make "
		if empty == shared {
			who = "the account, with all of its keys, may make "
		}
		refusal := schema.Refuse(schema.RateLimited, "", "Too many calls: "+who+strconv.Itoa(c.Limits.Rate.PerSecond)+" per second here.")
		refusal.RetryAfter = empty.wait(now)
		return refusal
	case m == nil || framing(c, route):
		return nil
	}
	p.limit = g.account.limitOn(route)
	if _, ok := m.reserve(p.limit, 1); !ok {
		refusal := schema.Refuse(schema.QuotaExceeded, "", "The account has used all calls of its plan for this month.")
		refusal.RetryAfter = m.left(now)
		return refusal
	}
	p.reserved = 1
	return nil
}

// Reserve implements httpapi.Pass.
func (p *pass) Reserve(_ *httpapi.Call, n int64) error {
	if p.reserved == 0 || n <= p.reserved {
		return nil
	}
	m := p.day.month
	left, ok := m.reserve(p.limit, n-p.reserved)
	if ok {
		p.reserved = n
		return nil
	}
	left += p.reserved
	refusal := schema.Refuse(schema.QuotaExceeded, "", fmt.Sprintf("This counts as %d calls, and the account has %d left of its plan for this month. Nothing was done.", n, left))
	refusal.RetryAfter = m.left(p.service.Now())
	refusal.Retryable = n <= p.limit // no month has more
	p.service.metrics.refusedBy(refusal)
	return refusal
}

// allows reports whether an allow-list lets an address through. An empty one
// lets every address through.
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

// Verify implements httpapi.Pass.
func (p *pass) Verify(c *httpapi.Call) error {
	if c.BySession { // the exchange of the key was signed
		return nil
	}
	err := p.service.verifySignature(c, p.grant)
	if err != nil {
		p.service.metrics.refusedBy(err)
		return err
	}
	p.unsigned = false
	return nil
}

// End implements httpapi.Pass.
func (p *pass) End(c *httpapi.Call, status int) {
	counted := int64(0)
	if m := p.day.month; m != nil {
		if counts(status) && !p.unsigned && p.reserved > 0 {
			counted = max(1, c.Count)
		}
		m.settle(p.reserved, counted, p.grant.account.limit)
		if c.Limits.Quota.Limit != 0 {
			c.Limits.Quota.Used = m.used.Load()
		}
	}
	p.service.ledger.count(p.day, p.counter, status >= 400, counted)
}

// limitOn is the quota that a route is held to. Calls about the account itself
// count and are never refused for it: who has used everything up must still be
// able to sign in and see that, and to revoke a key that leaked.
func (a *held) limitOn(route *httpapi.Route) int64 {
	if route.Scope == string(schema.AccountRead) || route.Scope == string(schema.KeysManage) || strings.HasPrefix(route.Path, sessionsPath) {
		return 0
	}
	return a.limit
}

// framing reports whether a call fills the frame of the dashboard: a session that reads
// the account itself, its keys, usage, audit log, sessions or webhooks with their events and
// deliveries, or that follows what changes. Such calls are in the usage and count nothing,
// or looking at an account would use it up. What a session reads of the air, and of
// recharges, verifications and wallets, is data and counts as it does for a key.
func framing(c *httpapi.Call, route *httpapi.Route) bool {
	if !c.BySession || !reads(c) {
		return false
	}
	switch schema.Scope(route.Scope) {
	case "", schema.AccountRead, schema.KeysManage, schema.WebhooksManage:
		return true
	default:
		return false
	}
}

// counts reports whether an answer counts towards the quota: all do but those
// that refused the caller (CONTRACT 2).
func counts(status int) bool { return status != 401 && status != 403 && status != 429 }
