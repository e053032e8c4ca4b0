package delivery

import "vayu/internal/sqlstore"

// Personal returns the rows that the erasure of an account deletes: the account's deliveries and
// their attempts. The outcome of an attempt that is in flight during the erasure is not stored.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{
			Table: "attempt", Key: []string{"delivery_id", "number"},
			From: "attempt t JOIN delivery d ON d.id = t.delivery_id WHERE d.account_id = $1",
		},
		{Table: "delivery", Key: []string{"id"}, From: "delivery t WHERE t.account_id = $1"},
	}
}
