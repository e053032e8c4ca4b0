package recharge

import (
	"vayu/internal/httpapi"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// recharges describes the table of recharges for lists.
var recharges = transaction.Table[Record]{
	Name: "recharge", Columns: columns, Prefix: idPrefix, Unindexed: string(schema.RechargeSuccess), Scan: scanRecord,
	Of: func(r *Record) transaction.Facts {
		return transaction.Facts{ID: r.ID, Owner: r.Owner, State: string(r.State), Ref: r.RefID, CreatedAt: r.CreatedAt}
	},
}

// list answers GET /v1/recharge.
func (s *Service) list(c *httpapi.Call) (httpapi.Response, error) {
	return transaction.Answer(c, s.Box, s.DB.View(c.Context()), &recharges, "recharges", schema.RechargeStates, replyOf)
}
