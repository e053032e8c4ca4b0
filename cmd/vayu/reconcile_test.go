package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/cmd/vayu/tool"
	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// silentProvider accepts orders and never reports a result.
type silentProvider struct{}

// Submit implements order.Operator.
func (silentProvider) Submit(context.Context, order.Order) (order.Answer, error) {
	return order.Answer{Outcome: order.Pending}, nil
}

// Enquire implements order.Operator.
func (silentProvider) Enquire(context.Context, order.Order) (order.Answer, error) {
	return order.Answer{Outcome: order.Pending}, nil
}

// reconcileFixture is a store with an account of 1,000 rupees and the recharge service,
// with a silent provider. Recharges are of 100 rupees.
type reconcileFixture struct {
	*testing.T
	db        *sqlstore.DB
	owner     schema.Owner
	recharges *recharge.Service

	flags []string // that lead a command to its store
	files int
}

// eachReconcileFixture runs a test on both databases.
func eachReconcileFixture(t *testing.T, do func(s *reconcileFixture)) {
	t.Helper()
	for name, config := range map[string]func(*testing.T) sqlstore.Config{
		"sqlite": func(t *testing.T) sqlstore.Config { t.Helper(); return sqlstore.Config{Data: t.TempDir()} },
		"postgres": func(t *testing.T) sqlstore.Config {
			t.Helper()
			return sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			s := &reconcileFixture{T: t, db: sqlstoretest.Open(t, c), flags: []string{"--data", c.Data}}
			if c.DSN != "" {
				s.flags = []string{"--data", t.TempDir(), "--state", string(c.DSN)}
			}
			s.open()
			do(s)
		})
	}
}

func (s *reconcileFixture) open() {
	s.Helper()
	s.owner = accesstest.AddTenant(s, s.db, "shop").In(schema.Live)
	events := outbox.New(outbox.Config{DB: s.db})
	var err error
	s.recharges, err = recharge.New(recharge.Config{Options: transaction.Options{DB: s.db, Events: events}, Connections: []order.Connection{
		{Link: transaction.Link{Name: "agg", World: schema.Live, Timeout: time.Minute, Concurrency: 8}, Operator: silentProvider{}},
	}})
	if err != nil {
		s.Fatal(err)
	}
	fixture.Run(s, s.recharges.Run)
	books := wallet.New(wallet.Config{DB: s.db, Events: events})
	if _, err := books.Credit(s.Context(), s.owner, 1000_00, "utr 1", "test"); err != nil {
		s.Fatal(err)
	}
}

// order makes a recharge of 100 rupees and brings it to a state.
func (s *reconcileFixture) order(to schema.RechargeState) string {
	s.Helper()
	s.files++
	rec, _, err := s.recharges.Do(s.Context(), request.Request{
		Origin: transaction.Origin{Owner: s.owner}, RefID: fmt.Sprint("order-", s.files), Type: schema.Prepaid, Number: "9876543210", Valid: true, RequestedOperator: "Airtel", Amount: 100_00,
	}, time.Nanosecond)
	if err != nil {
		s.Fatal(err)
	}
	results := map[schema.RechargeState]order.Answer{
		schema.RechargeSuccess: {Outcome: order.Succeeded}, schema.RechargeFailed: {Outcome: order.Failed, Code: schema.OperatorNetworkError},
	}
	if a, final := results[to]; final {
		if rec, err = s.recharges.Settle(s.Context(), schema.Live, "agg", rec.Reference, a, "test"); err != nil {
			s.Fatal(err)
		}
	}
	if rec.State != to {
		s.Fatalf("the recharge is %s, want %s", rec.State, to)
	}
	return rec.ID
}

// reconcile runs the command. An argument with line ends is the content of its file.
func (s *reconcileFixture) reconcile(args ...string) (string, error) {
	s.Helper()
	for i, arg := range args {
		if strings.Contains(arg, "\n") {
			s.files++
			args[i] = filepath.Join(s.TempDir(), "day.csv")
			if err := os.WriteFile(args[i], []byte(arg), 0o600); err != nil {
				s.Fatal(err)
			}
		}
	}
	return command(s.Context(), append(append([]string{"reconcile"}, args...), s.flags...)...)
}

// wantBooks checks the ledger and the balance of the account.
func (s *reconcileFixture) wantBooks(available, held schema.Paise) {
	s.Helper()
	got, err := wallet.BalanceOf(s.db.View(s.Context()), s.owner)
	if want := (wallet.Balance{Available: available, Held: held}); err != nil || got != want {
		s.Errorf("the account has %+v, %v, want %+v", got, err, want)
	}
	if report, err := wallet.Verify(s.Context(), s.db, ""); err != nil || report.FaultCount != 0 {
		s.Errorf("the ledger is wrong: %v, %+v", err, report.Faults)
	}
}

// count returns the result of a query.
func (s *reconcileFixture) count(query string, args ...any) (n int) {
	s.Helper()
	if err := s.db.View(s.Context()).QueryRow("SELECT count(*) FROM "+query, args...).Scan(&n); err != nil {
		s.Fatal(err)
	}
	return n
}

// differencesIn returns the differences in a JSON output in short, and the summary.
func (s *reconcileFixture) differencesIn(out string) (all []string, summary map[string]any) {
	s.Helper()
	for text := range strings.Lines(out) {
		var d struct {
			Kind    string
			Line    int
			Settled *struct {
				Status, Alarm string
				Done          bool
			}
		}
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			s.Fatalf("%v: %s", err, text)
		}
		if d.Kind == "summary" {
			if err := json.Unmarshal([]byte(text), &summary); err != nil {
				s.Fatal(err)
			}
			continue
		}
		one := fmt.Sprintf("%s %d", d.Kind, d.Line)
		if d.Settled != nil {
			one += fmt.Sprintf(" %s %s%t", d.Settled.Status, d.Settled.Alarm, d.Settled.Done)
		}
		all = append(all, one)
	}
	return all, summary
}

// A file is compared, applied, and applied again. Money moves once, and the ledger
// stays correct.
func TestAFileIsReconciled(t *testing.T) {
	t.Parallel()
	eachReconcileFixture(t, func(s *reconcileFixture) {
		today := func() string { return time.Now().In(schema.India).Format(time.DateOnly) }
		from := today()
		pending, gone, charged, late, same, lost := s.order("pending"), s.order("pending"), s.order("success"), s.order("failed"), s.order("success"), s.order("success")
		s.wantBooks(500_00, 200_00)
		file := strings.Join([]string{
			"Client Ref;Txn Id;Amount;Status", pending + ";A1;100;SUCCESS", gone + ";A2;100.00;FAILED", charged + ";A3;100;REVERSED",
			late + ";A4;100;S", same + ";A5;100;S", "nobody;A6;50;S", "cut",
		}, "\r\n")
		run := func(more ...string) ([]string, map[string]any) {
			out, err := s.reconcile(append([]string{file, "--provider", "agg", "--from", from, "--to", today(), "--json"}, more...)...)
			if err == nil || err.Error() != tool.ErrReported.Error() {
				s.Fatalf("got %v: %s", err, out)
			}
			return s.differencesIn(out)
		}
		before := s.count("posting")
		got, sum := run()
		want := []string{"unreadable 8", "settle_success 2", "settle_failed 3", "refund 4", "suspense 5", "not_ours 7", "absent 0"}
		if diff := cmp.Diff(want, got); diff != "" || sum["left"] != 7.0 || sum["applied"] != false {
			s.Errorf("%v, the differences (-want +got):\n%s", sum, diff)
		}
		if s.count("posting") != before {
			s.Error("money moved without --apply")
		}
		got, sum = run("--apply")
		want = []string{
			"unreadable 8", "settle_success 2 success true", "settle_failed 3 failed true", "refund 4 refunded true", "suspense 5 failed late_successtrue",
			"not_ours 7", "absent 0",
		}
		if diff := cmp.Diff(want, got); diff != "" || sum["left"] != 4.0 {
			s.Errorf("%v, applied (-want +got):\n%s", sum, diff)
		}
		s.wantBooks(700_00, 0)
		after, audited := s.count("posting"), s.count("audit WHERE actor = 'reconcile'")
		if audited != 4 {
			s.Errorf("the audit log has %d rows of it, want 4", audited)
		}
		got, sum = run("--apply")
		if diff := cmp.Diff([]string{"unreadable 8", "suspended 5", "not_ours 7", "absent 0"}, got); diff != "" || sum["left"] != 4.0 {
			s.Errorf("%v, applied again (-want +got):\n%s", sum, diff)
		}
		if n := s.count("posting"); n != after {
			s.Errorf("applied again, there are %d postings, want %d", n, after)
		}
		if n := s.count("audit WHERE actor = 'reconcile'"); n != audited {
			s.Errorf("applied again, the audit log has %d rows of it, want %d", n, audited)
		}
		s.wantBooks(700_00, 0)
		out, err := s.reconcile(fmt.Sprintf("ref,status,amount\n%s,S,100\n%s,ok,100\n", same, lost), "--provider", "agg")
		if err != nil || !strings.HasSuffix(out, "\neverything matches\n") {
			s.Errorf("a file that matches gave %v: %s", err, out)
		}
	})
}

// The text output has the remedies, and the actions done.
func TestTextOutputHasRemedies(t *testing.T) {
	t.Parallel()
	eachReconcileFixture(t, func(s *reconcileFixture) {
		pending := s.order("pending")
		file := "ref,status,amount\n" + pending + ",S,100\nx,S,\"1,234.50\"\n,S,1\n"
		s.wantPrinted([]string{
			": 3 lines of agg (live); without --date nothing is missed\n", "\nSUCCESS THERE, PENDING HERE: 1 (₹100)\n-> with --apply: settle as success: the account is charged\n",
			"  2     " + pending + "  success ₹100  pending ₹100  shop     9876543210  ", "\nA REFERENCE THAT NO ACCOUNT HAS: 1 (₹1,234.50)\n-> ask the operator which order it is\n",
			"\n  line 4  it has no reference\n", "\n3 differences; nothing was changed, and --apply acts on 1\n",
		}, file, "--provider", "agg")
		s.wantPrinted([]string{"-> done for 1: settle as success: the account is charged\n", "  success\n", "\nsettled 1 difference; 2 left for people\n"}, file, "--provider", "agg", "--apply")
	})
}

// Actions are counted by kind: a posting to suspense is not a settlement.
func TestActionsAreCountedByKind(t *testing.T) {
	t.Parallel()
	eachReconcileFixture(t, func(s *reconcileFixture) {
		file := fmt.Sprintf("ref,status,amount\n%s,S,100\n%s,F,100\n%s,R,100\n%s,S,100\n%s,S,\"₹100,00\"\n",
			s.order("pending"), s.order("pending"), s.order("success"), s.order("failed"), s.order("success"))
		s.wantPrinted([]string{
			"-> done for 1: settle as success", "-> done for 1: settle as failed", "-> done for 1: refund", "-> done for 1: book to suspense",
			"\nsettled 4 differences; 2 left for people\n",
			"\nCANNOT BE READ: 1\n-> look at the line and its fault\n  line 6  its amount \"₹100,00\" is not an amount in rupees, such as 1234.50 or 1,234.50\n",
		}, file, "--provider", "agg", "--apply")
		s.wantPrinted([]string{"\nsettled 0 differences; 2 left for people\n"}, file, "--provider", "agg", "--apply")
	})
}

func (s *reconcileFixture) wantPrinted(want []string, args ...string) {
	s.Helper()
	out, err := s.reconcile(args...)
	if err == nil || err.Error() != tool.ErrReported.Error() {
		s.Errorf("got %v", err)
	}
	for _, text := range want {
		if !strings.Contains(out, text) {
			s.Errorf("%q is not in\n%s", text, out)
		}
	}
}

func TestTheListOfRechargesToLookAt(t *testing.T) {
	t.Parallel()
	eachReconcileFixture(t, func(s *reconcileFixture) {
		if out, err := s.reconcile(); err != nil || out != "no recharge to look at\n" {
			s.Errorf("got %v: %s", err, out)
		}
		old, late := s.order("pending"), s.order("failed")
		s.order("pending")
		if _, err := s.recharges.Settle(s.Context(), schema.Live, "agg", late, order.Answer{Outcome: order.Succeeded}, "test"); err != nil {
			s.Fatal(err)
		}
		if err := s.db.Update(s.Context(), func(tx *sqlstore.Tx) error {
			const day = 86_400_000_000
			id := strings.Replace(old, "txn_01", "txn_00", 1) // an id of then
			_, err := tx.Exec("UPDATE recharge SET id = $2, created_at = created_at - $3 WHERE id = $1", old, id, 2*day)
			old = id
			return err
		}); err != nil {
			s.Fatal(err)
		}
		s.wantPrinted([]string{
			old + "  shop     live  agg", " ₹100    pending  48h  pending for more than a day\n",
			"the provider has reported success of an order that had failed\n\n2 recharges to look at",
		})
		out, err := s.reconcile("--json", "--mode", "live")
		var one struct {
			TransactionID string  `json:"transaction_id"`
			Age           float64 `json:"age_seconds"`
			Why           string
		}
		switch {
		case !errors.Is(err, tool.ErrReported):
			s.Errorf("got error %v, want %v", err, tool.ErrReported)
		case json.Unmarshal([]byte(strings.Split(out, "\n")[0]), &one) != nil:
			s.Errorf("got %v: %s", err, out)
		case one.TransactionID != old:
			s.Errorf("one.TransactionID = %q, want %q", one.TransactionID, old)
		case one.Age < 172_800:
			s.Errorf("one.Age = %v, want at least 172_800", one.Age)
		case one.Why != "pending":
			s.Errorf("one.Why = %q, want \"pending\"", one.Why)
		}
		if out, err := s.reconcile("--mode", "test"); err != nil || out != "no recharge to look at\n" {
			s.Errorf("sandbox: %v: %s", err, out)
		}
	})
}

func TestReconcileRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	eachReconcileFixture(t, func(s *reconcileFixture) {
		const file = "ref,status,amount\n"
		for want, args := range map[string][]string{
			"no recharge of the live world has a provider yet": {file, "--provider", "agg"},
			"--provider: name the provider of the file":        {file},
			"--apply is for a file":                            {"--apply"},
			"neither live nor sandbox":                         {file, "--provider", "agg", "--mode", "x"},
			`"x" is neither live`:                              {"--mode", "x"},
			"set both --from and --to":                         {file, "--provider", "agg", "--from", "2026-01-01"},
			"set --date, or --from and --to":                   {file, "--provider", "agg", "--from", "2026-01-01", "--date", "2026-01-01"},
			`"2026-02-30" is not a date`:                       {file, "--provider", "agg", "--date", "2026-02-30"},
			"--from is after --to":                             {file, "--provider", "agg", "--from", "2026-01-02", "--to", "2026-01-01"},
			`--columns: there is no "ref"`:                     {file, "--provider", "agg", "--columns", "ref=a"},
			"--statuses: 0=fine: a status is":                  {file, "--provider", "agg", "--statuses", "0=fine"},
			"no such file":                                     {"/none/such.csv", "--provider", "agg"},
		} {
			if out, err := s.reconcile(args...); err == nil || !strings.Contains(err.Error(), want) || out != "" {
				s.Errorf("%v: got %v and %q, want %s", args, err, out, want)
			}
		}
		s.order("pending")
		if _, err := s.reconcile(file, "--provider", "ag"); err == nil || !strings.Contains(err.Error(), `was submitted to "ag"; its providers are agg`) {
			s.Errorf("got %v", err)
		}
		for text, want := range map[string]string{
			"a,b\n": `day.csv: no column for reference, status, amount; the first row has "a", "b"; name the column with --columns reference=NAME,status=NAME,amount=NAME`,
			"\n":    "day.csv: the file is empty", ";\n": "day.csv: the first row has no names in it, and must be the header",
		} {
			if _, err := s.reconcile(text, "--provider", "agg"); err == nil || !strings.HasSuffix(err.Error(), want) {
				s.Errorf("%q: got %v, want %s", text, err, want)
			}
		}
	})
}
