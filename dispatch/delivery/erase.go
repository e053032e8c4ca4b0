package delivery

import "vayu/internal/sqlstore"

// Personal returns the changes that erase an account: they delete its deliveries and their attempts. If an attempt is
// in flight during the erasure, its outcome is not stored.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{
			Table: "attempt", Key: []string{"delivery_id", "number"},
			From: "attempt t JOIN delivery d ON d.id = t.delivery_id WHERE d.account_id = $1",
		},
		{Table: "delivery", Key: []string{"id"}, From: "delivery t WHERE t.account_id = $1"},
	}
}
