package sqlstore_test

import (
	"context"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// beforeBankTransfer is the last version of the tables without bank_transfer.
const beforeBankTransfer = 7

// The first payment gets the reference, and no payment is lost.
func TestMigrationKeepsDuplicatePayments(t *testing.T) {
	t.Parallel()
	for name, config := range sqlstoretest.Fresh {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			old := c
			old.Version = beforeBankTransfer
			db, stop := sqlstoretest.Start(t, old)
			if err := fillPayments(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			stop()
			db = sqlstoretest.Open(t, c)
			got, err := sqlstore.All(db.View(t.Context()), func(row sqlstore.Scanner) (line string, err error) {
				var scope, reference, payment string
				err = row.Scan(&scope, &reference, &payment)
				return scope + " " + reference + " " + payment, err
			}, "SELECT scope, reference, payment_id FROM bank_transfer ORDER BY scope, reference")
			want := []string{"acc_1 UTR1 pay_6", "acc_2 UTR1 pay_7", "live UTR1 pay_1", "live UTR2 pay_5"}
			if err != nil || len(got) != len(want) {
				t.Fatalf("got %q, %v; want %q", got, err, want)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("row %d: got %q, want %q", i, got[i], want[i])
				}
			}
		})
	}
}

// fillPayments stores payments as version 0.1.0 could: pay_1 to pay_3 are one transfer.
func fillPayments(ctx context.Context, db *sqlstore.DB) error {
	return db.Update(ctx, func(tx *sqlstore.Tx) error {
		for _, id := range []string{"acc_1", "acc_2"} {
			if _, err := tx.Exec("INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'free', '', 0, 1)", id); err != nil {
				return err
			}
		}
		for _, p := range [][5]string{
			{"pay_1", "acc_2", "live", "success", "utr 1"}, {"pay_2", "acc_1", "live", "success", "UTR1"}, {"pay_3", "acc_2", "live", "success", "UTR1"},
			{"pay_4", "acc_1", "live", "failed", "UTR3"}, {"pay_5", "acc_1", "live", "success", "UTR2"},
			{"pay_6", "acc_1", "sandbox", "success", "UTR1"}, {"pay_7", "acc_2", "sandbox", "success", "UTR1"}, {"pay_8", "acc_2", "sandbox", "success", ""},
		} {
			if _, err := tx.Exec(`INSERT INTO payment (id, account_id, mode, method, amount, state, error_code, note, created_at)
				VALUES ($1, $2, $3, 'upi', 1, $4, '', $5, 0)`, p[0], p[1], p[2], p[3], p[4]); err != nil {
				return err
			}
		}
		return nil
	})
}
