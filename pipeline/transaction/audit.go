package transaction

import (
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Origin identifies the owner, the caller and the batch item of a request.
type Origin struct {
	Owner  schema.Owner
	Caller httpapi.Who
	Item   *BatchItem // batch item that the request belongs to; nil for none
}

// Audit returns an entry of the audit log about a transaction and its caller.
func (o *Origin) Audit(b *Base, action string, detail map[string]any) audit.Entry {
	e := b.Audit(o.Caller.Key, action, detail)
	e.Request, e.Client = o.Caller.Request, o.Caller.Client
	return e
}

// Audit returns an entry of the audit log about a transaction.
func (b *Base) Audit(actor, action string, detail map[string]any) audit.Entry {
	return audit.Entry{Account: b.Owner.Account, World: b.Owner.World, Actor: actor, Action: action, Subject: b.ID, Detail: detail}
}
