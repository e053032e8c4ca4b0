package wallet

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// recharge is a row of the table with its entries.
type recharge struct {
	id, state, alarm, reference string
	sent                        int
	acts                        []string
}

// amountOfEach is the amount of every recharge in these tests.
const amountOfEach schema.Paise = 100

func (r recharge) insert(tx *sqlstore.Tx, o schema.Owner) error {
	_, err := tx.Exec(`INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount,
			provider, reference, provider_ref, sent, tries, token, told_pending, error_code, error_message, alarm, refund_id, refund_reason,
			batch_id, batch_index, created_at)
		VALUES ($1, $2, $3, $1, $4, 'prepaid', '9000000001', '', 'Airtel', '', '', $5, 'p', $6, '', $7, 0, '', 0, '', '', $8, '', '', '', 0, $9)`,
		r.id, o.Account, o.World.String(), r.state, int64(amountOfEach), r.reference, r.sent, r.alarm, noon.UnixMicro())
	return err
}

// lifecycles are recharges of every possible kind.
var lifecycles = []recharge{
	{"txn_pending", "pending", "", "txn_pending", 0, []string{kindReserve}},
	{"txn_success", "success", "", "txn_success", 1, []string{kindReserve, kindCommit}},
	{"txn_warned", "success", "late_failure", "txn_warned", 1, []string{kindReserve, kindCommit}},
	{"txn_refunded", "refunded", "", "txn_refunded", 1, []string{kindReserve, kindCommit, kindRefund}},
	{"txn_failed", "failed", "", "txn_failed", 1, []string{kindReserve, kindRelease}},
	{"txn_unsent", "failed", "", "txn_unsent", 0, []string{kindReserve, kindRelease}},
	{"txn_poor", "failed", "", "", 0, nil},
	{"txn_late", "failed", "late_success", "txn_late", 1, []string{kindReserve, kindRelease, kindSuspend}},
	{"txn_moved", "failed", "late_success", "txn_moved-2", 1, []string{kindReserve, kindRelease}},
}

// play inserts a recharge at a time.
func (r recharge) play(t *testing.T, db *sqlstore.DB, o schema.Owner, at time.Time) {
	t.Helper()
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		if err := r.insert(tx, o); err != nil {
			return err
		}
		for _, name := range r.acts {
			if err := actAt(tx, at, o, name, r.id, amountOfEach); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachVerified runs a test with a consistent ledger: two payments, one of them failed, and a
// recharge of each kind, an hour apart.
func eachVerified(t *testing.T, run func(t *testing.T, s *walletFixture, o schema.Owner)) {
	t.Helper()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		o := s.one.In(schema.Sandbox)
		s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":1000,"ref_id":"good"}`).Want(t, "a payment", 200)
		s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":5.13,"ref_id":"bad"}`).Want(t, "one that fails", 502)
		for i, r := range lifecycles {
			r.play(t, s.DB, o, noon.Add(time.Duration(i)*time.Hour))
		}
		run(t, s, o)
	})
}

func TestConsistentLedgerPasses(t *testing.T) {
	t.Parallel()
	eachVerified(t, func(t *testing.T, s *walletFixture, o schema.Owner) {
		want := Report{
			Ledgers: []LedgerSum{
				{schema.Sandbox, "available", 1000_00 - 3*100}, {schema.Sandbox, "cash", -1000_00}, {schema.Sandbox, "clearing:Airtel", 3 * 100},
				{schema.Sandbox, "held", 100}, {schema.Sandbox, "suspense", -100},
			},
			Postings: 36, Recharges: 9, Payments: 2,
		}
		for _, rows := range []int{verifyRows, 1, 2, 3, 7} {
			for _, account := range []string{"", o.Account} {
				got, err := verify(s.DB.View(t.Context()), account, rows)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%d rows at a time: %s", rows, diff)
				}
			}
		}
		if got, err := Verify(t.Context(), s.DB, s.two.ID); err != nil || !cmp.Equal(got, Report{}) {
			t.Errorf("another account: %+v, %v", got, err)
		}
		if _, err := Verify(t.Context(), s.DB, "acc_none"); err == nil || !strings.Contains(err.Error(), `no account "acc_none"`) {
			t.Errorf("no account: %v", err)
		}
	})
}

// Manual changes of the ledger are found, with their subject.
func TestTamperingIsFound(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		statement string
		want      []string
	}{
		"a posting changed": {
			"UPDATE posting SET amount = amount + 1 WHERE subject = 'txn_success' AND kind = 'commit' AND ledger = 'held'",
			[]string{"txn_success: its commit has 2 postings, which add up to ₹0.01", "has ₹1 held, and its postings add up to ₹1.01", "txn_success: its commit does not move ₹1 from held to clearing:Airtel"},
		},
		"an old posting changed": {
			"UPDATE posting SET amount = amount + 1 WHERE kind = 'topup' AND ledger = 'available'",
			[]string{": its topup has 2 postings", "has ₹997 available, and its postings add up to ₹997.01", "its topup does not move ₹1,000 from cash to available"},
		},
		"both postings of an entry changed": {
			"UPDATE posting SET amount = amount * 2 WHERE subject = 'txn_failed'",
			[]string{"txn_failed: its reserve does not move ₹1", "txn_failed: its release does not move ₹1"},
		},
		"a posting deleted": {
			"DELETE FROM posting WHERE subject = 'txn_pending' AND ledger = 'held'",
			[]string{"txn_pending: its reserve has 1 postings", "has ₹1 held, and its postings add up to ₹0", "txn_pending: its reserve does not move ₹1"},
		},
		"an entry deleted": {
			"DELETE FROM posting WHERE subject = 'txn_refunded' AND kind = 'refund'",
			[]string{"has ₹997 available, and its postings add up to ₹996", "txn_refunded: it is refunded, of ₹1, and has the entries [commit reserve]; want [commit refund reserve]"},
		},
		"an entry at another operator": {
			"UPDATE posting SET ledger = 'clearing:Jio' WHERE subject = 'txn_success' AND ledger = 'clearing:Airtel'",
			[]string{"txn_success: its commit does not move ₹1 from held to clearing:Airtel"},
		},
		"an entry of another account": {
			"UPDATE posting SET account_id = (SELECT max(id) FROM account WHERE name = 'two') WHERE subject = 'txn_late' AND kind = 'suspend'",
			[]string{"txn_late: its suspend does not move ₹1", "txn_late: it has postings, but is not a recharge or payment of the account"},
		},
		"a wallet changed": {
			"UPDATE wallet SET available = available + 1",
			[]string{"the wallet has ₹997.01 available, and its postings add up to ₹997"},
		},
		"a wallet that holds too much": {
			"UPDATE wallet SET held = held + 1",
			[]string{"the wallet has ₹1.01 held, and its postings add up to ₹1", "the wallet has ₹1.01 reserved, and its pending recharges amount to ₹1"},
		},
		"a wallet deleted": {
			"DELETE FROM wallet",
			[]string{"has ₹0 available", "has ₹0 held", "the wallet has ₹0 reserved, and its pending recharges amount to ₹1"},
		},
		"a recharge deleted": {
			"DELETE FROM recharge WHERE id = 'txn_pending'",
			[]string{"txn_pending: it has postings, but is not a recharge or payment of the account", "the wallet has ₹1 reserved, and its pending recharges amount to ₹0"},
		},
		"a state without its entry": {
			"UPDATE recharge SET state = 'success' WHERE id = 'txn_pending'",
			[]string{"has ₹1 reserved, and its pending recharges amount to ₹0", "txn_pending: it is success, of ₹1, and has the entries [reserve]; want [commit reserve]"},
		},
		"a failure that was charged": {
			"UPDATE recharge SET state = 'failed' WHERE id = 'txn_success'",
			[]string{"txn_success: it is failed, of ₹1, and has the entries [commit reserve]; want [release reserve]"},
		},
		"an alarm without its entry": {
			"UPDATE recharge SET alarm = 'late_success' WHERE id = 'txn_failed'",
			[]string{"txn_failed: it is failed, of ₹1, and has the entries [release reserve]; want [release reserve suspend]"},
		},
		"a sent one without money": {
			"UPDATE recharge SET sent = 1 WHERE id = 'txn_poor'",
			[]string{"txn_poor: it is failed, of ₹1, and has the entries []; want [release reserve]"},
		},
		"another amount": {
			"UPDATE recharge SET amount = 101 WHERE id = 'txn_success'",
			[]string{"txn_success: its commit does not move ₹1.01", "txn_success: its reserve does not move ₹1.01"},
		},
		"a payment that went through without money": {
			"UPDATE payment SET state = 'success' WHERE ref_id = 'bad'",
			[]string{"it is success, of ₹5.13, and has the entries []; want [topup]"},
		},
		"money of a payment that failed": {
			"UPDATE payment SET state = 'failed' WHERE ref_id = 'good'",
			[]string{"it is failed, of ₹1,000, and has the entries [topup]; want []"},
		},
	}
	eachVerified(t, func(t *testing.T, s *walletFixture, _ schema.Owner) {
		restore := keep(t, s.DB)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				defer restore()
				sqlstoretest.Exec(t, s.DB, c.statement)
				for _, rows := range []int{verifyRows, 4} {
					r, err := verify(s.DB.View(t.Context()), "", rows)
					if err != nil {
						t.Fatal(err)
					}
					wantFaults(t, name, r, c.want)
				}
			})
		}
		sqlstoretest.Exec(t, s.DB, "UPDATE posting SET at = at - 3600000000 WHERE subject = 'txn_late' AND kind = 'suspend' AND ledger = 'suspense'")
		for _, rows := range []int{verifyRows, 1} {
			if r, err := verify(s.DB.View(t.Context()), "", rows); err != nil || r.FaultCount == 0 {
				t.Errorf("a posting at another time: %v, %v", r.Faults, err)
			}
		}
	})
}

// keep copies the ledger and returns a function that restores it.
func keep(t *testing.T, db *sqlstore.DB) (restore func()) {
	t.Helper()
	tables := []string{"posting", "wallet", "recharge", "payment"}
	for _, table := range tables {
		sqlstoretest.Exec(t, db, "CREATE TABLE kept_"+table+" AS SELECT * FROM "+table)
	}
	return func() {
		for _, table := range tables {
			sqlstoretest.Exec(t, db, "DELETE FROM "+table)
			sqlstoretest.Exec(t, db, "INSERT INTO "+table+" SELECT * FROM kept_"+table)
		}
	}
}

// wantFaults checks for exactly these faults, each by a part of its text.
func wantFaults(t *testing.T, name string, r Report, want []string) {
	t.Helper()
	left := append([]Fault{}, r.Faults...)
	for _, text := range want {
		found := false
		for i, f := range left {
			if strings.Contains(f.String(), text) {
				left, found = append(left[:i:i], left[i+1:]...), true
				break
			}
		}
		if !found {
			t.Errorf("%s: it is not found that %q: %v", name, text, r.Faults)
		}
	}
	if len(left) > 0 || int64(len(r.Faults)) != r.FaultCount {
		t.Errorf("%s: %d faults, and found besides: %v", name, r.FaultCount, left)
	}
}

// The ledger is consistent at any time while recharges proceed.
func TestLedgerCheckDuringTraffic(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		o := s.one.In(schema.Sandbox)
		s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":1000000}`)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 4)
		for worker := range cap(ended) {
			go func() { ended <- busy(ctx, s.DB, o, worker) }()
		}
		var last Report
		for last.Recharges < 200 {
			r, err := verify(s.DB.View(t.Context()), "", 100)
			if err != nil || r.FaultCount != 0 {
				t.Errorf("after %d recharges: %v, %v", r.Recharges, r.Faults, err)
				break
			}
			last = r
		}
		stop()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		wantConsistent(t, s.DB)
	})
}

// busy makes recharges, and ends two of three, until ctx ends.
func busy(ctx context.Context, db *sqlstore.DB, o schema.Owner, worker int) error {
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("txn_%06d_%d", n, worker)
		now := time.Now()
		r := recharge{id: id, state: "pending", reference: id}
		steps := []func(tx *sqlstore.Tx) error{func(tx *sqlstore.Tx) error {
			if err := r.insert(tx, o); err != nil {
				return err
			}
			return actAt(tx, now, o, kindReserve, id, amountOfEach)
		}}
		if to := []string{"", "success", "failed"}[n%3]; to != "" {
			steps = append(steps, func(tx *sqlstore.Tx) error {
				if _, err := tx.Exec("UPDATE recharge SET state = $2 WHERE id = $1", id, to); err != nil {
					return err
				}
				return actAt(tx, now, o, map[string]string{"success": kindCommit, "failed": kindRelease}[to], id, amountOfEach)
			})
		}
		for _, step := range steps {
			if err := db.Update(context.Background(), step); err != nil {
				return err
			}
		}
	}
	return nil
}
