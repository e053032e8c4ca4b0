package transaction

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/schema"
)

// ListParams are the query parameters of the list of a kind of transactions.
var ListParams = []string{"ref_id", "status", "batch_id", "from", "to", "limit", "cursor"}

// readFilter reads the query parameters of a list: status (one of states), ref_id, batch_id,
// from, to, limit and cursor. The error is a *schema.Problem that lists every fault. The
// parameter list names what is listed, such as "recharges". The result name identifies the
// list and its filter; a cursor is valid for one name only.
func readFilter(c *httpapi.Call, list string, states []string) (f Filter, name string, err error) {
	var faults schema.RequestErrors
	f = Filter{Owner: c.Owner(), State: c.Params["status"], Ref: c.Params["ref_id"], Batch: c.Params["batch_id"]}
	if f.State != "" && !slices.Contains(states, f.State) {
		faults.Add("status", "The status of "+list+" is "+oneOf(states)+".")
	}
	f.From, f.To = pagination.TimeRange(&faults, c.Params)
	name = list + "?" + url.Values{
		"status": {f.State}, "ref_id": {f.Ref}, "batch_id": {f.Batch},
		"from": {strconv.FormatInt(f.From, 10)}, "to": {strconv.FormatInt(f.To, 10)},
	}.Encode()
	f.Limit, f.After = pagination.Limit(&faults, c.Params), pagination.ReadCursor(&faults, c, name, c.Params)
	return f, name, faults.Problem()
}

// oneOf joins texts: "a, b or c".
func oneOf(states []string) string {
	var b strings.Builder
	for i, s := range states {
		switch {
		case i > 0 && i == len(states)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(s)
	}
	return b.String()
}
