package recharge

import (
	"vayu/internal/httpapi"
	"vayu/pipeline/listing"
	"vayu/schema"
)

// recharges describes the table of recharges for lists.
var recharges = listing.Table[Record]{
	Name: "recharge", Columns: columns, Prefix: idPrefix, Unindexed: string(schema.RechargeSuccess), Scan: scanRecord,
	Of: func(r *Record) listing.Facts {
		return listing.Facts{ID: r.ID, Owner: r.Owner, State: string(r.State), Ref: r.RefID, CreatedAt: r.CreatedAt}
	},
}

// list answers GET /v1/recharge.
func (s *Service) list(c *httpapi.Call) (httpapi.Response, error) {
	return listing.Answer(c, s.DB.View(c.Context()), &recharges, "recharges", schema.RechargeStates, replyOf)
}
