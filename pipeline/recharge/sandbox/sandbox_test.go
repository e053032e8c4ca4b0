package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/sandbox"
	"vayu/schema"
)

var made = time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)

// clock is a settable clock.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newOrder(number string) order.Order {
	return order.Order{Reference: "txn_1", Type: schema.Prepaid, Number: number, Operator: "Airtel", Amount: 199_00, CreatedAt: made}
}

// reply is the part of an answer that depends on the number.
type reply struct {
	outcome order.Outcome
	code    schema.Code
	again   time.Duration
}

type asking func(context.Context, order.Order) (order.Answer, error)

func (c *clock) ask(t *testing.T, how asking, o order.Order, age time.Duration) (order.Answer, reply) {
	t.Helper()
	c.at = o.CreatedAt.Add(age)
	a, err := how(t.Context(), o)
	if err != nil {
		t.Fatalf("asking about %s after %v: %v", o.Number, age, err)
	}
	return a, reply{a.Outcome, a.Code, a.RetryAfter}
}

func TestMagicNumbers(t *testing.T) {
	t.Parallel()
	success := reply{outcome: order.Succeeded}
	pending := func(again time.Duration) reply { return reply{order.Pending, "", again} }
	failed := func(code schema.Code) reply { return reply{order.Failed, code, 0} }
	for _, c := range []struct {
		digit               string
		submitted           reply
		second, five, aWeek reply // enquired at this age
	}{
		{"1", success, success, success, success},
		{"2", pending(5 * time.Second), pending(4 * time.Second), success, success},
		{"3", pending(5 * time.Second), pending(4 * time.Second), failed(schema.OperatorNetworkError), failed(schema.OperatorNetworkError)},
		{"4", failed(schema.InvalidNumber), failed(schema.InvalidNumber), failed(schema.InvalidNumber), failed(schema.InvalidNumber)},
		{"5", failed(schema.InsufficientBalance), failed(schema.InsufficientBalance), failed(schema.InsufficientBalance), failed(schema.InsufficientBalance)},
		{"6", reply{order.Succeeded, "", 5 * time.Second}, reply{order.Succeeded, "", 4 * time.Second}, reply{outcome: order.Reversed}, reply{outcome: order.Reversed}},
		{"7", pending(0), pending(0), pending(0), pending(0)},
		{"8", reply{outcome: order.NotSubscriber}, reply{outcome: order.NotSubscriber}, reply{outcome: order.NotSubscriber}, reply{outcome: order.NotSubscriber}},
		{"9", reply{order.Succeeded, "", time.Second}, success, success, success},
	} {
		for _, o := range []order.Order{
			newOrder("900000000" + c.digit),
			{Type: schema.DTH, Number: "30123456" + "0" + c.digit, Operator: "unknown", CreatedAt: made},
		} {
			t.Run(string(o.Type)+c.digit, func(t *testing.T) {
				t.Parallel()
				var now clock
				conn := sandbox.Connection(now.now)
				_, submitted := now.ask(t, conn.Operator.Submit, o, 0)
				_, second := now.ask(t, conn.Operator.Enquire, o, time.Second)
				_, five := now.ask(t, conn.Operator.Enquire, o, 5*time.Second)
				_, aWeek := now.ask(t, conn.Operator.Enquire, o, 7*24*time.Hour)
				got := []reply{submitted, second, five, aWeek}
				if diff := cmp.Diff([]reply{c.submitted, c.second, c.five, c.aWeek}, got, cmp.AllowUnexported(reply{})); diff != "" {
					t.Errorf("answers at 0, 1 s, 5 s, a week (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestLateSubmitSucceedsBeforeReversal(t *testing.T) {
	t.Parallel()
	var now clock
	conn := sandbox.Connection(now.now)
	if a, _ := now.ask(t, conn.Operator.Submit, newOrder("9000000006"), time.Minute); a.Outcome != order.Succeeded || a.RetryAfter <= 0 {
		t.Errorf("submitted after a minute: %+v, want success and a later enquiry", a)
	}
}

func TestPortedNumber(t *testing.T) {
	t.Parallel()
	const ported = "9000000008"
	var now clock
	conn := sandbox.Connection(now.now)
	if operator, _, ok := numbering.Series(ported); operator != "Airtel" || !ok {
		t.Errorf("its series is %q's (%v), want Airtel's", operator, ok)
	}
	whose, err := conn.Directory.Detect(t.Context(), ported)
	if want := (order.Subscriber{Operator: "Jio", Circle: "Delhi"}); err != nil || whose != want {
		t.Fatalf("Detect: %v, %v, want %v", whose, err, want)
	}
	o := newOrder(ported)
	o.Operator = whose.Operator
	if a, _ := now.ask(t, conn.Operator.Submit, o, 0); a.Outcome != order.Succeeded {
		t.Errorf("asked as Jio: %+v, want success", a)
	}
}

func TestDirectoryHasEveryNumber(t *testing.T) {
	t.Parallel()
	known := func(s order.Subscriber, types ...schema.RechargeType) bool {
		for _, k := range types {
			if _, ok := numbering.Find(k, s.Operator); ok {
				return true
			}
		}
		return false
	}
	dir := sandbox.Connection(nil).Directory
	for i := range 2000 {
		mobile := fmt.Sprintf("%010d", 6_000_000_000+i*1_999_999)
		s, err := dir.Detect(t.Context(), mobile)
		if err != nil || !known(s, schema.Prepaid) {
			t.Fatalf("Detect(%s) = %+v, %v, want an operator", mobile, s, err)
		}
		if _, ok := numbering.Circle(s.Circle); !ok {
			t.Fatalf("Detect(%s) = %+v, want a circle", mobile, s)
		}
	}
	if s, err := dir.Detect(t.Context(), "9000000001"); err != nil || s != (order.Subscriber{Operator: "Airtel", Circle: "Delhi"}) {
		t.Errorf("the first magic number is %+v's (%v), want Airtel's in Delhi", s, err)
	}
	if s, err := dir.Detect(t.Context(), "01234567890"); err != nil || !known(s, schema.DTH) || s.Circle != "" {
		t.Errorf("a DTH subscriber is %+v's (%v), want a DTH operator's", s, err)
	}
	if s, err := dir.Detect(t.Context(), "12"); err != nil || s != (order.Subscriber{}) {
		t.Errorf("Detect(12) = %+v, %v, want none", s, err)
	}
}

// TestOtherNumbersMostlySucceed checks the documented shares: 94, 4 and 2 of a hundred.
func TestOtherNumbersMostlySucceed(t *testing.T) {
	t.Parallel()
	var now clock
	conn := sandbox.Connection(now.now)
	const n = 10_000
	counts := map[order.Outcome]int{}
	for i := range n {
		o := newOrder(fmt.Sprintf("98%08d", i*7919))
		a, _ := now.ask(t, conn.Operator.Submit, o, 0)
		counts[a.Outcome]++
		if b, _ := now.ask(t, conn.Operator.Enquire, o, 5*time.Second); a.Outcome == order.Pending && b.Outcome != order.Succeeded {
			t.Fatalf("%s was pending, and after 5 s %v: want success", o.Number, b)
		}
	}
	for outcome, share := range map[order.Outcome]int{order.Succeeded: 94, order.Pending: 4, order.Failed: 2} {
		if got := counts[outcome] * 100 / n; got < share-1 || got > share+1 {
			t.Errorf("outcome %v: %d %%, want about %d", outcome, got, share)
		}
	}
}

func TestNumbersNearMagicOnes(t *testing.T) {
	t.Parallel()
	var now clock
	conn := sandbox.Connection(now.now)
	for _, number := range []string{"9000000000", "9000000017", "9000000107", "8000000007", "6000000007"} {
		if a, _ := now.ask(t, conn.Operator.Enquire, newOrder(number), time.Hour); a.Outcome == order.Pending {
			t.Errorf("%s is pending after an hour: only 9000000007 is", number)
		}
	}
}

func TestReverse(t *testing.T) {
	t.Parallel()
	var now clock
	conn := sandbox.Connection(now.now)
	for number, want := range map[string]order.Outcome{
		"9000000001": order.Reversed, "9000000009": order.Reversed, "9000000006": order.Reversed,
		"9000000004": order.Failed, "9000000007": order.Pending,
	} {
		for range 2 {
			a, _ := now.ask(t, conn.Reverser.Reverse, newOrder(number), time.Second)
			if a.Outcome != want || a.RetryAfter != 0 && want == order.Reversed || a.Reason != "" {
				t.Errorf("Reverse of %s: %+v, want outcome %v", number, a, want)
			}
		}
	}
}

func TestPlansAreMarkedAsSandbox(t *testing.T) {
	t.Parallel()
	dir := sandbox.Connection(nil).Directory
	for _, o := range numbering.Operators() {
		plans, err := dir.Plans(t.Context(), o.Name, "Delhi")
		if err != nil || len(plans) == 0 {
			t.Fatalf("plans of %s: %v, %v", o.Name, plans, err)
		}
		for _, p := range plans {
			if p.Amount < o.Min || p.Amount > o.Max || !strings.HasPrefix(p.Description, "Sandbox, "+o.Name) {
				t.Errorf("plan of %s: %+v", o.Name, p)
			}
		}
	}
	if plans, err := dir.Plans(t.Context(), "Aircel", ""); err != nil || plans != nil {
		t.Errorf("plans of an unknown operator: %v, %v", plans, err)
	}
}

func TestEndedContextIsAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	conn := sandbox.Connection(nil)
	for _, how := range []asking{conn.Operator.Submit, conn.Operator.Enquire, conn.Reverser.Reverse} {
		if _, err := how(ctx, newOrder("9000000001")); !errors.Is(err, context.Canceled) || errors.Is(err, httpconnector.ErrNotSent) {
			t.Errorf("after the call was given up: %v, want that it was cancelled, and nothing about whether it was sent", err)
		}
	}
}
