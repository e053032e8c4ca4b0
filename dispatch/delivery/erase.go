package delivery

import "vayu/internal/sqlstore"

// Personal is what is erased of an account: all its deliveries, with their attempts. An
// attempt that is under way finds no delivery any more, and is not recorded.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{
			Table: "attempt", Key: []string{"delivery_id", "number"},
			From: "attempt t JOIN delivery d ON d.id = t.delivery_id WHERE d.account_id = $1",
		},
		{Table: "delivery", Key: []string{"id"}, From: "delivery t WHERE t.account_id = $1"},
	}
}
