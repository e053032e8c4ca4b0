package access

import (
	"fmt"

	"vayu/internal/sqlstore"
)

// Personal is what is erased of an account in the tables of this package. The audit log
// stays as it is: it is a hash chain, and has numbers masked and names hashed.
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

// erasedPrefix begins the name of an account that was erased; its id ends it.
const erasedPrefix = "erased-"

// Erase gives an account the name erased-ID and no allow-list. What the other tables have
// of it is erased before ([Personal]). Detail is what the audit log says of that.
func Erase(tx *sqlstore.Tx, id string, detail map[string]any) (Entry, error) {
	revision, err := raise(tx)
	if err != nil {
		return Entry{}, err
	}
	if _, err := tx.Exec("UPDATE account SET name = $2, allow_list = '', revision = $3 WHERE id = $1", id, erasedPrefix+id, revision); err != nil {
		return Entry{}, fmt.Errorf("erasing the name of an account: %w", err)
	}
	return Entry{Account: id, Action: "account.erase", Subject: id, Detail: detail}, nil
}
