package access

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/access/quota"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// usageLongest is the largest range of GET /v1/usage, in days: a leap year.
const usageLongest = 366

func (s *Service) getAccount(c *httpapi.Call) (httpapi.Response, error) {
	h, err := account.ByID(s.DB.View(c.Context()), c.Account)
	if err != nil {
		return httpapi.Response{}, err
	}
	return s.shown(c, h), nil
}

func (s *Service) shown(c *httpapi.Call, h account.Record) httpapi.Response {
	return httpapi.Response{Value: schema.Account{
		Status: schema.Success, ID: h.ID, Name: h.Name, Mode: c.World.String(), Plan: h.Plan, AllowList: h.AllowList,
		CreatedAt: schema.FormatTime(h.CreatedAt), Quota: s.quota(c),
	}}
}

// patchAccount answers PATCH /v1/account. The allow-list applies to both worlds (live and sandbox). Sandbox keys cannot
// change the allow-list, because they are often less well protected than live keys.
func (s *Service) patchAccount(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := httpapi.Decode[struct {
		AllowList []string `json:"allow_list"`
	}](c)
	if err != nil {
		return httpapi.Response{}, err
	}
	var f schema.RequestErrors
	if wanted.AllowList == nil {
		f.Add("allow_list", "The allow-list is missing. Send the complete list. An empty list allows every address.")
	}
	networks := account.ParseAllowList(&f, "allow_list", wanted.AllowList)
	own := func(p netip.Prefix) bool { return p.Contains(c.Client.Unmap()) }
	if len(f) == 0 && len(networks) > 0 && !slices.ContainsFunc(networks, own) {
		f.Add("allow_list", "The allow-list must contain the address of this request, "+c.Client.Unmap().String()+".")
	}
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	if c.World != schema.Live {
		return httpapi.Response{}, schema.NewProblem(schema.Forbidden, "allow_list", "The allow-list of an account applies to both modes. Change it with a live key.")
	}
	return s.refreshed(c, change{do: func(c *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error) {
		before, err := account.ByID(tx, c.Account)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		if err := caller.MayReplaceAllowList(before.AllowList, account.NetworkTexts(networks)); err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		h, entry, err := account.SetAllowList(tx, c.Account, wanted.AllowList)
		return s.shown(c, h), entry, err
	}})
}

// getUsage answers GET /v1/usage. The range includes the days `from` and `to`.
func (s *Service) getUsage(c *httpapi.Call) (httpapi.Response, error) {
	now := s.Now()
	from, to, err := usageDays(c.Params, now)
	if err != nil {
		return httpapi.Response{}, err
	}
	days, err := s.usage.Usage(c.Context(), c.Account, quota.Selection{
		World: c.World, From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Key: c.Params["key"], ByKey: c.Params["by"] == "key",
	})
	if errors.Is(err, quota.ErrTooManyRows) {
		return httpapi.Response{}, schema.NewProblem(schema.InvalidRequest, "from", "The range has more than 50,000 rows. Choose fewer days, or one key.")
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Value: schema.Usage{
		Status: schema.Success, Mode: c.World.String(), Quota: s.quota(c), Days: days,
	}}, nil
}

// usageDays checks the parameters of a usage query, and parses its range. The default of "to" is today. The default of
// "from" is the first day of the month of "to".
func usageDays(params map[string]string, now time.Time) (from, to time.Time, err error) {
	var f schema.RequestErrors
	read := func(name string, otherwise time.Time) time.Time {
		text, ok := params[name]
		if !ok {
			return otherwise
		}
		t, ok := pagination.ParseDay(text)
		if !ok {
			f.Add(name, "The parameter "+name+" must be an existing date, as YYYY-MM-DD.")
		}
		return t
	}
	to = read("to", now.UTC().Truncate(24*time.Hour))
	from = read("from", to.AddDate(0, 0, 1-to.Day()))
	if by, ok := params["by"]; ok && by != "operation" && by != "key" {
		f.Add("by", "The parameter by must be operation or key.")
	}
	if key, ok := params["key"]; ok && !schema.IsID(key) {
		f.Add("key", "The parameter key must be the id of a key.")
	}
	switch days := int(to.Sub(from)/(24*time.Hour)) + 1; {
	case len(f) > 0:
	case days < 1:
		f.Add("from", "The range ends before it begins.")
	case days > usageLongest:
		f.Add("to", "A range has at most 366 days.")
	}
	return from, to, f.Problem()
}

// quota returns the quota of the caller's account. It returns nil in the sandbox, and if the plan has no limit.
func (s *Service) quota(c *httpapi.Call) *schema.Quota {
	if c.World != schema.Live {
		return nil
	}
	return s.quotaOf(c.Account)
}

// quotaOf returns the quota of an account. It returns nil if the plan has no limit, or the account is unknown.
func (s *Service) quotaOf(account string) *schema.Quota {
	if holder := s.cache.account(account); holder != nil {
		return holder.usage.Quota(s.Now())
	}
	return nil
}
