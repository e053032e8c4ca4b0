package access

import (
	"fmt"

	"vayu/internal/sqlstore"
)

// Personal describes the personal data of an account in this package's tables, for its erasure. The audit log
// is not erased, because each row is hashed into the next. In it, numbers are masked and names are hashed.
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

// erasedPrefix, followed by the account's id, is the name of an erased account.
const erasedPrefix = "erased-"

// Erase renames an account to erased-ID and empties its allow-list. The caller has erased the other
// tables ([Personal]). detail goes into the audit entry.
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
