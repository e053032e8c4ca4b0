package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/namematch"
	"vayu/pipeline/verify/sandbox"
	"vayu/schema"
)

// names are possible expected names. A surname alone and a single letter are excluded, because
// no name partly matches them.
var names = []string{
	"Rajesh Kumar Sharma", "Ravi Kumar", "R K Sharma", "Sunita", "Li", "Dr. Anita Desai", "Mohammed Shaikh", "Maria D'Souza", "José Fernandes",
	"Smt. Lakshmi Narayanan S/O Raman", "Acme Traders Pvt Ltd", "राजेश शर्मा", "सुनीता", "Venkataramana", "a b", "Asha Rao", "Geeta",
	"Asha Kumari", "Aa Aa", "Venkata Satya Naga Lakshmi Prasad Rao Kondapalli",
}

func drop(account, expected string, at time.Time) bank.Order {
	return bank.Order{Reference: "ver_1", Method: schema.VerifyPennyDrop, Account: account, IFSC: "SBIN0000691", CreatedAt: at, Expected: expected}
}

func address(vpa, expected string, at time.Time) bank.Order {
	return bank.Order{Reference: "ver_1", Method: schema.VerifyUPI, VPA: vpa, CreatedAt: at, Expected: expected}
}

// match compares at the standard tolerance, and below it at the lenient one.
func match(expected, registered string) schema.NameMatch {
	switch r := namematch.Compare(expected, registered); {
	case r.Exact:
		return schema.NameExact
	case r.Score >= 70:
		return schema.NamePartial
	case r.Score < 50:
		return schema.NameNone
	}
	return "in between"
}

// summary is the documented result of a magic value.
type summary struct {
	outcome bank.Outcome
	match   schema.NameMatch
	status  schema.AccountStatus
	reasons int
	after   time.Duration
}

func callBank(t *testing.T, how func(context.Context, bank.Order) (bank.Answer, error), o bank.Order) (bank.Answer, summary) {
	t.Helper()
	begun := time.Now()
	a, err := how(t.Context(), o)
	switch {
	case err != nil:
		t.Errorf("%s: %v", o.Account, err)
	case a.ProviderRef == "":
		t.Errorf("%s: a.ProviderRef is empty", o.Account)
	case (a.UTR != "") != (a.Outcome == bank.Found && o.VPA == "") || a.UTR != "" && len(a.UTR) != 12:
		t.Errorf("%s%s: got %+v, %v", o.Account, o.VPA, a, err)
	}
	got := summary{outcome: a.Outcome, status: a.Account.Status, reasons: len(a.Account.Reasons), after: time.Since(begun)}
	if a.Outcome == bank.Found {
		got.match = match(o.Expected, a.Account.Name)
	}
	return a, got
}

func TestMagicValues(t *testing.T) {
	t.Parallel()
	const exact, active = schema.NameExact, schema.AccountActive
	for value, want := range map[string]summary{
		"0001":           {bank.Found, exact, active, 0, 0},
		"0002":           {bank.Found, schema.NamePartial, active, 0, 0},
		"0003":           {bank.Found, schema.NameNone, active, 0, 0},
		"0004":           {bank.Found, exact, schema.AccountDormant, 0, 0},
		"0005":           {bank.Found, exact, schema.AccountFrozen, 0, 0},
		"0006":           {bank.Found, exact, schema.AccountClosed, 0, 0},
		"0007":           {outcome: bank.NotFound},
		"0008":           {bank.Found, exact, active, 1, 0},
		"0010":           {bank.Found, exact, active, 0, 25 * time.Second},
		"success@upi":    {bank.Found, exact, active, 0, 0},
		"failure@upi":    {outcome: bank.NotFound},
		"partial@upi":    {bank.Found, schema.NamePartial, active, 0, 0},
		"dormant@upi":    {bank.Found, exact, schema.AccountDormant, 0, 0},
		"suspicious@upi": {bank.Found, exact, active, 1, 0},
	} {
		for _, name := range names {
			synctest.Test(t, func(t *testing.T) {
				b := sandbox.Connection(nil).Bank
				o, how := drop("12345678"+value, name, time.Now()), b.Deposit
				if strings.Contains(value, "@") {
					o, how = address(value, name, time.Now()), b.Resolve
				}
				first, got := callBank(t, how, o)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(summary{})); diff != "" {
					t.Errorf("%s for %q: got %q (-want +got):\n%s", value, name, first.Account.Name, diff)
				}
				time.Sleep(time.Hour)
				if again, _ := callBank(t, how, o); !cmp.Equal(first, again) {
					t.Errorf("%s: an hour later it says %+v instead of %+v", value, again, first)
				}
				if o.Account == "" {
					return
				}
				if again, _ := callBank(t, b.Enquire, o); !cmp.Equal(first, again) {
					t.Errorf("%s: an enquiry says %+v instead of %+v", value, again, first)
				}
			})
		}
	}
}

// A timeout lasts as long as the call; the next call finds the account.
func TestTimeoutScenario(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := sandbox.Connection(nil)
		for _, o := range []bank.Order{drop("123456780009", "Asha Rao", time.Now()), address("timeout@upi", "Asha Rao", time.Now())} {
			o.CreatedAt = time.Now()
			how := c.Bank.Deposit
			if o.VPA != "" {
				how = c.Bank.Resolve
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.Timeout)
			begun := time.Now()
			a, err := how(ctx, o)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != c.Timeout {
				t.Errorf("got %+v, %v after %v", a, err, time.Since(begun))
			}
			if o.VPA == "" {
				how = c.Bank.Enquire
			}
			if _, got := callBank(t, how, o); got.outcome != bank.Found || got.match != schema.NameExact || got.after != 0 {
				t.Errorf("afterwards: got %+v", got)
			}
		}
	})
}

// Slow deposits wait concurrently, and any of them can be enquired, even if never sent.
func TestSlowDepositsAreConcurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := sandbox.Connection(nil)
		o := drop("123456780010", "Asha Rao", time.Now())
		if c.Concurrency < 1500 || c.Timeout <= 25*time.Second {
			t.Errorf("got %+v", c)
		}
		begun := time.Now()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				o := o
				o.Reference = fmt.Sprint("ver_", i)
				if _, got := callBank(t, c.Bank.Deposit, o); got.outcome != bank.Found || got.after != 25*time.Second {
					t.Errorf("got %+v", got)
				}
			})
		}
		time.Sleep(10 * time.Second)
		if a, err := c.Bank.Enquire(t.Context(), o); err != nil || a.Outcome != bank.Pending || a.RetryAfter != 15*time.Second {
			t.Errorf("an enquiry after 10 s: got %+v, %v", a, err)
		}
		all.Wait()
		if took := time.Since(begun); took != 25*time.Second {
			t.Errorf("a thousand took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o.CreatedAt = time.Now()
		if a, err := c.Bank.Deposit(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a short timeout: got %+v, %v", a, err)
		}
	})
}

// Other values have constant answers, mostly exact.
func TestScenarioDistribution(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)
	b := sandbox.Connection(func() time.Time { return now }).Bank
	const n = 10_000
	for what, orders := range map[string]func(i int) bank.Order{
		"accounts":  func(i int) bank.Order { return drop(fmt.Sprintf("9%08d42", i), "Asha Rao", now) },
		"addresses": func(i int) bank.Order { return address(fmt.Sprintf("payee%d@upi", i), "Asha Rao", now) },
	} {
		counts := map[string]int{}
		for i := range n {
			o, how := orders(i), b.Deposit
			if o.VPA != "" {
				how = b.Resolve
			}
			_, got := callBank(t, how, o)
			counts[fmt.Sprint(got.match, got.status, got.reasons)]++
		}
		for kind, want := range map[string]int{"exactactive0": 90, "partialactive0": 3, "noneactive0": 2, "exactdormant0": 2, "exactactive1": 1, "0": 2} {
			if got := counts[kind] * 100 / n; got < want-1 || got > want+1 {
				t.Errorf("%s: %q are %d %%, want about %d: %v", what, kind, got, want, counts)
			}
		}
	}
}

// Without an expected name an account has a constant name.
func TestEveryAccountHasName(t *testing.T) {
	t.Parallel()
	b := sandbox.Connection(nil).Bank
	different, branches := map[string]bool{}, map[string]bool{}
	for i := range 1000 {
		o := drop(fmt.Sprintf("8%08d0001", i), "", time.Now())
		o.IFSC = fmt.Sprintf("SBIN0%06d", i)
		a, _ := b.Deposit(t.Context(), o)
		again, _ := b.Enquire(t.Context(), o)
		if len(strings.Fields(a.Account.Name)) != 2 || !cmp.Equal(a, again) || a.Account.Branch == "" {
			t.Fatalf("got %+v and %+v", a, again)
		}
		different[a.Account.Name], branches[a.Account.Branch] = true, true
	}
	if len(different) < 300 || len(branches) < 10 {
		t.Errorf("a thousand accounts have %d names and %d branches", len(different), len(branches))
	}
}

func TestNearMagicValuesAreNotMagic(t *testing.T) {
	t.Parallel()
	b := sandbox.Connection(nil).Bank
	for _, account := range []string{"123450007000", "1234500000070", "123456780011", "123456780000", "700001007"} {
		for i := range 20 { // one of them at least is not missing by chance
			o := drop(fmt.Sprint(i, account), "Asha Rao", time.Now())
			if a, err := b.Deposit(t.Context(), o); err == nil && a.Outcome == bank.Found {
				break
			} else if i == 19 {
				t.Errorf("%s is never found", account)
			}
		}
	}
}

func TestEndedCallIsError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := sandbox.Connection(nil).Bank
	for _, how := range []func(context.Context, bank.Order) (bank.Answer, error){b.Deposit, b.Enquire, b.Resolve} {
		if _, err := how(ctx, drop("123456780001", "", time.Now())); !errors.Is(err, context.Canceled) || errors.Is(err, httpconnector.ErrNotSent) {
			t.Errorf("after the call was given up: %v, want that it was cancelled, and nothing about whether it was sent", err)
		}
	}
}
