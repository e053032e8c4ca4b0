package wallet

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

func TestLivePaymentIsPendingUntilSettled(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		key, o := s.key(schema.Live), s.one.In(schema.Live)
		const body = `{"amount":250,"method":"bank_transfer","ref_id":"r"}`
		r := s.Do(key, "POST", topups, body).Want(t, "a payment", 202)
		id := r.TextAt("payment_id")
		if r.TextAt("status") != "pending" || r.Header.Get("Location") != topups+"/"+id {
			t.Errorf("it is answered with %s", r.Text)
		}
		wantBalance(t, s.DB, "before", o, Balance{})
		waiting, err := Pending(s.DB.View(t.Context()), 10)
		if err != nil || len(waiting) != 1 || waiting[0].ID != id {
			t.Errorf("got %v, %v", waiting, err)
		}
		s.Do(key, "POST", topups, `{"amount":99.13}`).Want(t, "no magic here", 202)

		s.clock.Advance(time.Hour)
		p, err := s.Settle(t.Context(), id, true, "UTR1", "command")
		switch {
		case err != nil:
			t.Fatal(err)
		case p.State != schema.PaymentSuccess:
			t.Fatalf("p.State = %v, want %v", p.State, schema.PaymentSuccess)
		case p.Balance != 250_00:
			t.Fatalf("p.Balance = %v, want 250_00", p.Balance)
		case p.Note != "UTR1":
			t.Fatalf("p.Note = %q, want \"UTR1\"", p.Note)
		}
		again := s.Do(key, "POST", topups, body).Want(t, "the same again", 200)
		if again.TextAt("completed_at") != "2026-11-20T13:00:00Z" || again.At("balance") != 250.0 || strings.Contains(again.Text, "UTR1") {
			t.Errorf("the same again: %s", again.Text)
		}
		for _, succeeded := range []bool{true, false} {
			if p, err := s.Settle(t.Context(), id, succeeded, "UTR2", "command"); err == nil || !strings.Contains(err.Error(), "is success already, since 2026-11-20T13:00:00Z") {
				t.Errorf("settled again: %+v, %v", p, err)
			}
		}
		wantBalance(t, s.DB, "afterwards", o, Balance{Available: 250_00})
		events := s.Do(key, "GET", "/v1/events", "")
		if strings.Count(events.Text, `"evt_`) != 1 || !strings.Contains(events.Text, `"payment.succeeded"`) {
			t.Errorf("the events: %s", events.Text)
		}
		audit := s.Do(key, "GET", "/v1/audit", "")
		for action, want := range map[string]int{`"payment.create"`: 2, `"payment.success"`: 1, `"actor":"command"`: 1, `"note":"UTR1"`: 1} {
			if got := strings.Count(audit.Text, action); got != want {
				t.Errorf("the audit log has %s %d times, want %d: %s", action, got, want, audit.Text)
			}
		}
		for outcome, want := range map[string]float64{"pending": 2, "success": 1} {
			if got := s.metric(t, "vayu_wallet_payments_total", "world", "live", "outcome", outcome); got != want {
				t.Errorf("%s was counted %v times, want %v", outcome, got, want)
			}
		}
		wantConsistent(t, s.DB)
	})
}

func TestPaymentIsFailed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		key := s.key(schema.Live)
		id := s.Do(key, "POST", topups, `{"amount":250,"ref_id":"r"}`).TextAt("payment_id")
		if p, err := s.Settle(t.Context(), id, false, "", "command"); err != nil || p.State != schema.PaymentFailed {
			t.Fatalf("got %+v, %v", p, err)
		}
		s.Do(key, "POST", topups, `{"amount":250,"ref_id":"r"}`).Want(t, "the same again", 502)
		if events := s.Do(key, "GET", "/v1/events?type=payment.failed", ""); !strings.Contains(events.Text, id) {
			t.Errorf("the events: %s", events.Text)
		}
		wantBalance(t, s.DB, "afterwards", s.one.In(schema.Live), Balance{})
		wantConsistent(t, s.DB)
	})
}

func TestConcurrentDecisionsHaveOneEffect(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		id := s.Do(s.key(schema.Live), "POST", topups, `{"amount":250}`).TextAt("payment_id")
		var together sync.WaitGroup
		var done atomic.Int64
		for i := range 10 {
			together.Go(func() {
				if _, err := s.Settle(context.Background(), id, i%2 == 0, "UTR1", "command"); err == nil {
					done.Add(1)
				}
			})
		}
		together.Wait()
		if done.Load() != 1 {
			t.Errorf("%d decided", done.Load())
		}
		wantConsistent(t, s.DB)
	})
}

func TestCredit(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		o := s.one.In(schema.Live)
		p, err := s.Credit(t.Context(), o, 5000_00, "UTR7", "command")
		switch {
		case err != nil:
			t.Fatal(err)
		case p.State != schema.PaymentSuccess:
			t.Fatalf("p.State = %v, want %v", p.State, schema.PaymentSuccess)
		case p.Method != schema.BankTransfer:
			t.Fatalf("p.Method = %v, want %v", p.Method, schema.BankTransfer)
		case p.Balance != 5000_00:
			t.Fatalf("p.Balance = %v, want 5000_00", p.Balance)
		}
		if shown := s.Do(s.key(schema.Live), "GET", topups+"/"+p.ID, "").Want(t, "it", 200); shown.TextAt("status") != "success" {
			t.Errorf("it is shown as %s", shown.Text)
		}
		if _, err := s.Credit(t.Context(), o, 5000_00, "UTR7", "command"); err == nil || !strings.Contains(err.Error(), `already credited with the note "UTR7"`) {
			t.Errorf("the same transfer again: %v", err)
		}
		for what, err := range map[string]error{
			"too little": errorOf(s.Credit(t.Context(), o, 99, "x", "command")),
			"too much":   errorOf(s.Credit(t.Context(), o, mostTopup+1, "x", "command")),
			"a bad note": errorOf(s.Credit(t.Context(), o, 100, "a\nb", "command")),
			"no payment": errorOf(s.Settle(t.Context(), "pay_none", true, "x", "command")),
			"no note":    errorOf(s.Credit(t.Context(), o, 100, "", "command")),
		} {
			if _, refused := errors.AsType[*schema.Problem](err); !refused {
				t.Errorf("%s: got %v", what, err)
			}
		}
		wantBalance(t, s.DB, "afterwards", o, Balance{Available: 5000_00})
		wantConsistent(t, s.DB)
	})
}

// TestOneTransferCreditsOnePayment covers all accounts and spellings of the reference.
func TestOneTransferCreditsOnePayment(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		ctx, one, two := t.Context(), s.one.In(schema.Live), s.two.In(schema.Live)
		if _, err := s.Credit(ctx, one, 5000_00, "UTR 4123", "command"); err != nil {
			t.Fatal(err)
		}
		claimed := s.Do(s.two.Keys[schema.Live], "POST", topups, `{"amount":5000}`).TextAt("payment_id")
		for name, spelling := range map[string]string{"same": "UTR 4123", "lower case": "utr 4123", "no blanks": "UTR4123", "blanks around": "  Utr 41 23 "} {
			if _, err := s.Credit(ctx, two, 5000_00, spelling, "command"); err == nil || !strings.Contains(err.Error(), `Another account was already credited with the note "UTR 4123": pay_`) {
				t.Errorf("credit to another account, %s: %v", name, err)
			}
			if _, err := s.Credit(ctx, one, 5000_00, spelling, "command"); err == nil || !strings.Contains(err.Error(), "The account was already credited") {
				t.Errorf("credit to the same account, %s: %v", name, err)
			}
			if _, err := s.Settle(ctx, claimed, true, spelling, "command"); err == nil {
				t.Errorf("settlement of another account's payment, %s: accepted", name)
			}
		}
		if _, err := s.Credit(ctx, one, 5000_00, "   ", "command"); err == nil {
			t.Error("a note of blanks: accepted")
		}
		for _, o := range []schema.Owner{s.one.In(schema.Sandbox), s.two.In(schema.Sandbox)} {
			if _, err := s.Credit(ctx, o, 7_00, "UTR 4123", "command"); err != nil {
				t.Errorf("the same note in the sandbox of %s: %v", o.Account, err)
			}
		}
		wantBalance(t, s.DB, "who was credited", one, Balance{Available: 5000_00})
		wantBalance(t, s.DB, "who was not", two, Balance{})
		wantConsistent(t, s.DB)
	})
}

// TestConcurrentClaimsCreditOnce runs concurrent transactions.
func TestConcurrentClaimsCreditOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		var together sync.WaitGroup
		var credited atomic.Int64
		for i := range 10 {
			o := []schema.Owner{s.one.In(schema.Live), s.two.In(schema.Live)}[i%2]
			together.Go(func() {
				if _, err := s.Credit(context.Background(), o, 100_00, "UTR1", "command"); err == nil {
					credited.Add(1)
				}
			})
		}
		together.Wait()
		if credited.Load() != 1 {
			t.Errorf("%d payments were credited, want 1", credited.Load())
		}
		wantConsistent(t, s.DB)
	})
}

func errorOf(_ *Payment, err error) error { return err }

// failingEvents is an outbox whose appends fail.
type failingEvents struct{}

var errFull = errors.New("the outbox is full")

func (failingEvents) Append(*sqlstore.Tx, string, schema.World, schema.EventType, any) (string, error) {
	return "", errFull
}

// A failed event rolls the payment back.
func TestFailedEventRollsBackPayment(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		s.Events = failingEvents{}
		s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":5}`).WantError(t, "a payment", 500, schema.InternalError, "")
		if _, err := s.Credit(t.Context(), s.one.In(schema.Live), 500, "x", "command"); !errors.Is(err, errFull) {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff(Report{}, wantConsistent(t, s.DB)); diff != "" {
			t.Errorf("something is left: %s", diff)
		}
	})
}
