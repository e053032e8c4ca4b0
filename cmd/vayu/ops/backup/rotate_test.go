package backup

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// unencryptedColumns are the binary columns without secrets, or with a hash of one. A
// new binary column belongs here, or is encrypted and in encryptedColumns.
var unencryptedColumns = []string{
	"api_key.hash", "session.hash", "seen_signature.signature", "idempotent_reply.fingerprint", "audit.hash", "audit_head.hash", "audit_head.mac",
	"signup_invite.hash",
	"event.envelope", "attempt.body",
	"batch.fingerprint", "batch_item.refusal",
	"verification.digest", "verification.same", "recharge.number_digest",
}

// A rotation loses the values of an encrypted column that is missing in
// encryptedColumns.
func TestRotationCoversEncryptedColumns(t *testing.T) {
	t.Parallel()
	type column struct{ table, name string }
	view := sqlstoretest.SQLite(t).View(t.Context())
	there, err := sqlstore.All(view, func(row sqlstore.Scanner) (string, error) {
		var c column
		err := row.Scan(&c.table, &c.name)
		return c.table + "." + c.name, err
	}, "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.type NOT IN ('TEXT', 'BIGINT', 'INTEGER') AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'")
	if err != nil {
		t.Fatal(err)
	}
	known, places := slices.Clone(unencryptedColumns), map[string]string{}
	for _, c := range encryptedColumns() {
		known = append(known, c.Table+"."+c.Name)
		key, err := sqlstore.All(view, func(row sqlstore.Scanner) (name string, err error) {
			err = row.Scan(&name)
			return name, err
		},
			"SELECT CASE type WHEN 'TEXT' THEN name ELSE 'CAST(' || name || ' AS TEXT)' END FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk", c.Table)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(key, c.Key); diff != "" {
			t.Errorf("the key of table %s: %s", c.Table, diff)
		}
		place := c.AssociatedData(key...)
		if table, taken := places[place]; taken && table != c.Table { // two columns of a row may have one
			t.Errorf("tables %s and %s have the same associated data prefix %q", table, c.Table, place)
		}
		places[place] = c.Table
	}
	slices.Sort(there)
	slices.Sort(known)
	if diff := cmp.Diff(there, known); diff != "" {
		t.Errorf("the schema has (-), and encryptedColumns and unencryptedColumns have (+): %s", diff)
	}
}
