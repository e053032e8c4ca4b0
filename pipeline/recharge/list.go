package recharge

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"vayu/internal/api"
	"vayu/internal/page"
	"vayu/schema"
)

// list answers GET /v1/recharge.
func (s *Service) list(c *api.Call) (api.Response, error) {
	params, err := api.Parameters(c.URL.RawQuery, "ref_id", "status", "batch_id", "from", "to", "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	f, list, err := s.filterOf(c, params)
	if err != nil {
		return api.Response{}, err
	}
	reply := schema.List[schema.Recharge]{Status: schema.Success, Data: []schema.Recharge{}}
	ref, given := params["ref_id"]
	if given && !schema.IsRef(ref) || f.batch != "" && !schema.IsID(f.batch) {
		return api.Response{Value: reply}, nil // nothing is called that
	}
	all, next, err := f.page(s.DB.View(c.Context()))
	if err != nil {
		return api.Response{}, fmt.Errorf("listing recharges: %w", err)
	}
	for i := range all {
		reply.Data = append(reply.Data, shown(&all[i]))
	}
	if reply.HasMore = next != ""; reply.HasMore {
		reply.NextCursor = page.Cursor(s.Box, c, list, next)
	}
	return api.Response{Value: reply}, nil
}

// filterOf reads parameters, with every fault of them, and names the list to which
// its cursors belong.
func (s *Service) filterOf(c *api.Call, params map[string]string) (f filter, list string, err error) {
	var faults schema.Faults
	f = filter{owner: c.Owner(), state: schema.RechargeState(params["status"]), ref: params["ref_id"], batch: params["batch_id"], scan: scanMost}
	if f.state != "" && !slices.Contains(schema.RechargeStates, f.state) {
		faults.Add("status", "A recharge is pending, success, failed or refunded.")
	}
	f.from, f.to = page.Span(&faults, params)
	list = "recharges?" + url.Values{
		"status": {params["status"]}, "ref_id": {f.ref}, "batch_id": {f.batch},
		"from": {strconv.FormatInt(f.from, 10)}, "to": {strconv.FormatInt(f.to, 10)},
	}.Encode()
	f.limit, f.after = page.Limit(&faults, params), page.After(&faults, s.Box, c, list, params)
	return f, list, faults.Problem()
}
