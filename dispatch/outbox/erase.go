package outbox

import "vayu/internal/sqlstore"

// Personal returns the changes that erase an account: they delete all its events. The deliveries of these events must
// be deleted first.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{Table: "outbox", Key: []string{"event_id"}, From: "outbox t JOIN event e ON e.id = t.event_id WHERE e.account_id = $1"},
		{Table: "event", Key: []string{"id"}, From: "event t WHERE t.account_id = $1"},
	}
}
