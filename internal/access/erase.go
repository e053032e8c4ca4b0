package access

import (
	"vayu/internal/sqlstore"
)

// Personal describes the personal data of an account in this package's tables, for its erasure. The audit log is not
// erased, because each row is hashed into the next. It keeps, for example, the names of the account and its keys.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{Table: "session", Key: []string{"id"}, From: "session t JOIN api_key k ON k.id = t.key_id WHERE k.account_id = $1"},
		{Table: "idempotent_reply", Key: []string{"account_id", "mode", "key"}, From: "idempotent_reply t WHERE t.account_id = $1"},
		{
			Table: "api_key", Key: []string{"id"}, Set: "name = '', allow_list = '', signing_secret = NULL",
			From: "api_key t WHERE t.account_id = $1 AND (t.name <> '' OR t.allow_list <> '' OR t.signing_secret IS NOT NULL)",
		},
	}
}
