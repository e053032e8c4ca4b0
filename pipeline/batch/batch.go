// Package batch works on up to 10,000 records that were accepted in one durable
// write: in pieces that are leased, with fair shares between accounts, each record
// once whatever is killed meanwhile. It knows nothing of what a record is.
package batch

import (
	"context"

	"vayu/internal/state"
	"vayu/schema"
)

// Item is one record on its way.
type Item struct {
	Batch  string // id
	Index  int    // of the record, from 0
	Owner  schema.Owner
	Record []byte // JSON value as the client sent it
	// Who asked, for the audit log.
	Key, Request, Client string
}

// Kind is what a batch is of.
type Kind struct {
	Name   string // in the column kind and in metrics: "recharge"
	Prefix string // of ids: "rbt_"
	Array  string // name of the array in the body: "recharges"
	Path   string // of the endpoints: "/v1/recharge/batch"
	Write  schema.Scope
	Read   schema.Scope
	// Do does one record. It begins with [Begin] in the transaction that makes the
	// record a transaction of its own, or ends with [Refuse]; what it began it must
	// bring to [Finish], in this call or at any time later. An error means that
	// the record could not be begun because something is away: it comes again.
	Do func(ctx context.Context, item Item) error
	// Show renders what the subjects of items have become, by subject.
	Show func(q state.Querier, o schema.Owner, subjects []string) (map[string]any, error)
	// Room is how many records may be under way at once in an instance.
	Room int
}
