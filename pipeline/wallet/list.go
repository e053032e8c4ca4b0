package wallet

import (
	"net/url"
	"slices"
	"strconv"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// selectPayments reads a page of payments. A filter or cursor that is "" excludes no payment.
const selectPayments = selectPayment + ` WHERE account_id = $1 AND mode = $2 AND ($3 = '' OR id < $3)
	AND ($4 = '' OR state = $4) AND ($5 = '' OR ref_id = $5) AND created_at >= $6 AND created_at < $7 ORDER BY id DESC LIMIT $8`

// listPayments answers GET /v1/wallet/topups. The newest payments come first.
func (s *Service) listPayments(c *httpapi.Call) (httpapi.Response, error) {
	var f schema.RequestErrors
	status, ref := c.Params["status"], c.Params["ref_id"]
	if status != "" && !slices.Contains(schema.PaymentStates, schema.PaymentState(status)) {
		f.Add("status", "A payment is pending, success or failed.")
	}
	if ref != "" && !schema.IsRef(ref) {
		f.Add("ref_id", "The ref_id has 1 to 255 printable characters.")
	}
	from, to := pagination.TimeRange(&f, c.Params)
	list := "payments?" + url.Values{"status": {status}, "ref_id": {ref}, "span": spanName(from, to)}.Encode()
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, list, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := sqlstore.All(s.DB.View(c.Context()), scanPayment, selectPayments,
		c.Account, c.World.String(), after, status, ref, from, to, limit+1)
	if err != nil {
		return httpapi.Response{}, err
	}
	return pagination.Reply(rows, limit,
		func(p *Payment) (schema.Payment, error) { return p.toWire(), nil },
		func(p *Payment) *string { return pagination.Cursor(c, list, p.ID) })
}

func spanName(from, to int64) []string {
	return []string{strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)}
}
