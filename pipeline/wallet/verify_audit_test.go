package wallet

import (
	"fmt"
	"testing"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

const insertVerification = `INSERT INTO verification (id, account_id, mode, digest, same, state, method, target, ifsc, named, threshold, provider,
		provider_ref, sent, tries, token, trouble, account_status, name_match, score, verified, beneficiary, bank, branch, reasons, utr,
		error_code, answered_by, key_id, batch_id, batch_index, created_at, finished_at)
	VALUES ($1, $2, $3, '', '', 'success', 'upi', '', '', 0, 0, '', '', 0, 0, '', '', '', '', 0, 0, '', '', '', '', '', '', '', '', '', 0, 0, 0)`

// A final row without its audit row is found, with its id.
func TestMissingAuditRowIsFound(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		o := s.one.In(schema.Sandbox)
		s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":1000,"ref_id":"good"}`).Want(t, "a payment", 200)
		s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":5.13,"ref_id":"bad"}`).Want(t, "one that fails", 502)
		sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
			if _, err := tx.Exec(insertVerification, "ver_1", o.Account, o.World.String()); err != nil {
				return err
			}
			if err := audit.Append(tx, noon, audit.Entry{Account: o.Account, World: o.World, Action: "verification.success", Subject: "ver_1"}); err != nil {
				return err
			}
			for i, to := range []string{"pending", "success", "failed", "refunded"} {
				r := recharge{id: "txn_" + to, state: to, reference: "txn_" + to}
				if err := r.insert(tx, o); err != nil {
					return err
				}
				for _, action := range []string{"recharge.create", "recharge." + to} {
					err := audit.Append(tx, noon.Add(time.Duration(i)*time.Hour), audit.Entry{Account: o.Account, World: o.World, Action: action, Subject: r.id})
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
		check := func(t *testing.T, name string, want ...string) {
			t.Helper()
			for id, rows := range map[string]int{"": verifyRows, o.Account: 2} {
				r, err := verifyAudited(s.DB.View(t.Context()), id, rows)
				if err != nil {
					t.Fatal(err)
				}
				wantFaults(t, name, r, want)
			}
		}
		check(t, "a whole log")
		for _, gone := range []struct{ action, subject string }{
			{"recharge.success", "txn_success"}, {"recharge.refunded", "txn_refunded"}, {"payment.success", "pay_"}, {"payment.failed", "pay_"},
			{"verification.success", "ver_1"},
		} {
			t.Run(gone.action, func(t *testing.T) {
				sqlstoretest.Exec(t, s.DB, "CREATE TABLE kept AS SELECT * FROM audit")
				defer func() {
					sqlstoretest.Exec(t, s.DB, "DELETE FROM audit")
					sqlstoretest.Exec(t, s.DB, "INSERT INTO audit SELECT * FROM kept")
					sqlstoretest.Exec(t, s.DB, "DROP TABLE kept")
				}()
				sqlstoretest.Exec(t, s.DB, "DELETE FROM audit WHERE action = '"+gone.action+"'")
				check(t, gone.action, fmt.Sprintf("the audit log has no row %s of it", gone.action))
				r, err := VerifyAuditLog(t.Context(), s.DB, "")
				switch {
				case err != nil:
					t.Error(err)
				case len(r.Faults) != 1:
					t.Errorf("len(r.Faults) = %v, want 1", len(r.Faults))
				case len(r.Faults[0].Subject) < len(gone.subject):
					t.Errorf("len(r.Faults[0].Subject) = %v, want at least %v", len(r.Faults[0].Subject), len(gone.subject))
				case r.Faults[0].Subject[:len(gone.subject)] != gone.subject:
					t.Errorf("r.Faults[0].Subject[:len(gone.subject)] = %v, want %v", r.Faults[0].Subject[:len(gone.subject)], gone.subject)
				}
			})
		}
		if r, err := VerifyAuditLog(t.Context(), s.DB, s.two.ID); err != nil || r.FaultCount != 0 {
			t.Errorf("another account: %+v, %v", r, err)
		}
	})
}
