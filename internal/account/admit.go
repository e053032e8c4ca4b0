package account

import (
	"errors"
	"net/netip"
	"strconv"
	"time"

	"vayu/internal/api"
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
}

// Admit implements api.Access.
func (s *Service) Admit(c *api.Call, route *api.Route) (api.Pass, error) {
	p, err := s.admit(c, route)
	if err != nil {
		s.metrics.refused(err.Code)
		return nil, err
	}
	return p, nil
}

func (s *Service) admit(c *api.Call, route *api.Route) (*pass, *schema.Problem) {
	now := s.Now()
	g, refusal := s.identify(c, now)
	if refusal != nil {
		return nil, refusal
	}
	p := &pass{service: s, grant: g, day: g.account.tally.dayAt(g.world, now), unsigned: g.requireSignature}
	p.counter = p.day.counter(operation{route.Method, route.Path})
	s.ledger.touch(g, now)
	if refusal = p.ask(c, route, now); refusal != nil {
		s.ledger.count(p.day, p.counter, true, 0)
		return nil, refusal
	}
	return p, nil
}

// Refusals of keys.
var (
	errUnknownKey = schema.Refuse(schema.Unauthorized, "", "The API key is not known.")
	errRevokedKey = schema.Refuse(schema.KeyRevoked, "", "The API key was revoked.")
	errExpiredKey = schema.Refuse(schema.KeyExpired, "", "The API key has expired.")
)

// identify finds the key of a call. What is no key gets one answer, whatever is
// wrong with it.
func (s *Service) identify(c *api.Call, now time.Time) (*grant, *schema.Problem) {
	key, err := api.BearerKey(c.Request)
	if err != nil {
		if said, ok := errors.AsType[*schema.Problem](err); ok {
			return nil, said
		}
		return nil, schema.Refuse(schema.Unauthorized, "", "Send your API key in the header Authorization: Bearer <key>.")
	}
	var g *grant
	if _, ok := wellFormed(key); ok {
		g = s.seek(c.Context(), hashKey(key))
	}
	if g == nil {
		return nil, errUnknownKey
	}
	c.Principal = api.Principal{World: g.world, Account: g.account.id, Key: g.id}
	switch {
	case g.revokedAt != 0 && now.UnixMicro() >= g.revokedAt:
		return nil, errRevokedKey
	case g.expiresAt != 0 && now.UnixMicro() >= g.expiresAt:
		return nil, errExpiredKey
	}
	return g, nil
}

// ask decides whether a known key may make this call now, and takes what the
// call needs of the key's bucket and the account's quota.
func (p *pass) ask(c *api.Call, route *api.Route, now time.Time) *schema.Problem {
	g := p.grant
	if !allows(g.account.allow, c.Client) || !allows(g.allow, c.Client) {
		return schema.Refuse(schema.IPNotAllowed, "", "The API key may not be used from the address "+c.Client.String()+".")
	}
	b := g.memory.buckets[route.Limit]
	permitted := route.Scope == "" || g.scopes&scopeBit(route.Scope) != 0
	taken := permitted && b.take(now)
	c.Limits.Rate = b.state(now)
	m := p.day.month
	if m != nil && g.account.limit != 0 {
		c.Limits.Quota = api.Quota{Limit: g.account.limit, Used: m.used.Load(), Reset: m.ends}
	}
	switch {
	case !permitted:
		return schema.Refuse(schema.InsufficientScope, "", "The API key lacks the scope "+route.Scope+".")
	case !taken:
		refusal := schema.Refuse(schema.RateLimited, "", "Too many calls: the API key may make "+
			strconv.Itoa(c.Limits.Rate.PerSecond)+" per second here.")
		refusal.RetryAfter = b.wait(now)
		return refusal
	case m != nil && !m.reserve(g.account.limitOn(route)):
		refusal := schema.Refuse(schema.QuotaExceeded, "", "The account has used all calls of its plan for this month.")
		refusal.RetryAfter = m.left(now)
		return refusal
	}
	return nil
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

// Verify implements api.Pass.
func (p *pass) Verify(c *api.Call) error {
	err := p.service.verifySignature(c, p.grant)
	if err != nil {
		p.service.metrics.refusedBy(err)
		return err
	}
	p.unsigned = false
	return nil
}

// End implements api.Pass.
func (p *pass) End(c *api.Call, status int) {
	counted := int64(0)
	if m := p.day.month; m != nil {
		if counts(status) && !p.unsigned {
			counted = max(1, c.Count)
		}
		m.settle(counted)
		if c.Limits.Quota.Limit != 0 {
			c.Limits.Quota.Used = m.used.Load()
		}
	}
	p.service.ledger.count(p.day, p.counter, status >= 400, counted)
}

// limitOn is the quota that a route is held to. Calls about the account itself
// count and are never refused for it: who has used everything up must still be
// able to see that, and to revoke a key that leaked.
func (a *held) limitOn(route *api.Route) int64 {
	if route.Scope == string(schema.AccountRead) || route.Scope == string(schema.KeysManage) {
		return 0
	}
	return a.limit
}

// counts reports whether an answer counts towards the quota: all do but those
// that refused the caller (CONTRACT 2).
func counts(status int) bool { return status != 401 && status != 403 && status != 429 }
