package recharge

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/schema"
)

// redirected makes a recharge that was redirected, with the answer to its second order.
func (s *serviceFixture) redirected(second order.Answer) record.Record {
	s.t.Helper()
	looked := false
	s.fake.set(func() {
		s.fake.detect = func(string) (order.Subscriber, error) {
			operator := "Airtel"
			if looked {
				operator = "Jio"
			}
			looked = true
			return order.Subscriber{Operator: operator}, nil
		}
		s.fake.submit = func(o order.Order) (order.Answer, error) {
			if o.Operator == "Airtel" {
				return order.Answer{Outcome: order.NotSubscriber}, nil
			}
			return second, nil
		}
	})
	q := s.request()
	q.RequestedOperator = ""
	r := s.do(q)
	if r.Reference != r.ID+record.SecondOrder {
		s.t.Fatalf("it has not gone on elsewhere: %+v", r)
	}
	return r
}

// suspended returns the number of suspense entries.
func (s *serviceFixture) suspended() (n int) {
	s.t.Helper()
	if err := s.DB.View(s.t.Context()).QueryRow("SELECT count(DISTINCT subject) FROM posting WHERE kind = 'suspend'").Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Each alarm is raised once, and none hides another.
func TestAlarmsAreIndependent(t *testing.T) {
	t.Parallel()
	const first, second = false, true // the order of the outcome
	type outcome struct {
		second bool
		order.Outcome
	}
	type left struct {
		Alarm            string
		Success, Failure float64 // raised
		Suspended        int
		Audited          []string
	}
	late, wrong := "recharge.late_success provider:fake", "recharge.late_failure provider:fake"
	for name, c := range map[string]struct {
		state    order.Outcome // of the second order
		outcomes []outcome
		want     left
	}{
		"of the order that was replaced": {order.Failed, []outcome{{first, order.Succeeded}}, left{"late_success", 1, 0, 0, []string{late}}},
		"of both":                        {order.Failed, []outcome{{first, order.Succeeded}, {second, order.Succeeded}}, left{"late_success", 2, 0, 1, []string{late, late}}},
		"of both, the other way round":   {order.Failed, []outcome{{second, order.Succeeded}, {first, order.Succeeded}}, left{"late_success", 2, 0, 1, []string{late, late}}},
		"a failure after it":             {order.Succeeded, []outcome{{first, order.Succeeded}, {second, order.Failed}}, left{"late_failure", 1, 1, 0, []string{late, wrong}}},
		"a failure before it":            {order.Succeeded, []outcome{{second, order.Failed}, {first, order.Succeeded}}, left{"late_failure", 1, 1, 0, []string{wrong, late}}},
		"while it is pending":            {order.Pending, []outcome{{first, order.Succeeded}, {second, order.Failed}, {second, order.Succeeded}}, left{"late_success", 2, 0, 1, []string{late, late}}},
		"not of a failure":               {order.Failed, []outcome{{first, order.Failed}, {second, order.Failed}}, left{Audited: nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
				r := s.redirected(order.Answer{Outcome: c.state})
				say := func(w outcome) record.Record {
					t.Helper()
					about := r
					if !w.second {
						about.Reference = r.ID
					}
					return s.sendResult(about, order.Answer{Outcome: w.Outcome})
				}
				for _, w := range c.outcomes {
					sqlstoretest.Exec(t, s.DB, "UPDATE recharge SET resolved_at = 1") // earlier alarms were resolved
					before := s.metric("vayu_recharge_alarms_total")
					returned := say(w)
					if diff := cmp.Diff(s.find(r.ID), returned); diff != "" {
						t.Errorf("after %v it is (-stored +returned):\n%s", w, diff)
					}
					var open int
					if err := s.DB.View(t.Context()).QueryRow("SELECT count(*) FROM recharge WHERE resolved_at IS NULL").Scan(&open); err != nil {
						t.Fatal(err)
					}
					if raised := s.metric("vayu_recharge_alarms_total") > before; raised != (open == 1) {
						t.Errorf("after %v an alarm is raised: %v; it is open: %v", w, raised, open == 1)
					}
				}
				for range 2 { // every outcome is repeated
					for _, w := range c.outcomes {
						say(w)
					}
				}
				got := left{
					s.find(r.ID).Alarm, s.metric("vayu_recharge_alarms_total", "kind", "late_success"), s.metric("vayu_recharge_alarms_total", "kind", "late_failure"),
					s.suspended(), slices.DeleteFunc(s.audited(), func(row string) bool { return !strings.Contains(row, ".late_") }),
				}
				if diff := cmp.Diff(c.want, got, cmp.Transformer("all", func(all []string) string { return strings.Join(all, ", ") })); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A replaced order is only found for the provider that received it.
func TestReplacedOrderBelongsToItsProvider(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.redirected(order.Answer{Outcome: order.Succeeded})
		_, err := s.Settle(t.Context(), schema.Live, "other", r.ID, order.Answer{Outcome: order.Succeeded}, "test")
		accesstest.WantProblem(t, err, schema.NotFound, "")
		if got := s.find(r.ID); got.Alarm != "" {
			t.Errorf("it has the alarm %q", got.Alarm)
		}
		if got, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, order.Answer{Outcome: order.Succeeded}, "test"); err != nil || got.Alarm != settle.AlarmLateSuccess {
			t.Errorf("of its own: %q, %v", got.Alarm, err)
		}
	})
	t.Run("of another", func(t *testing.T) {
		t.Parallel()
		db := sqlstoretest.SQLite(t)
		other := &fakeProvider{}
		c := other.connection()
		c.Name, c.Operators = "second", []string{"Jio"}
		s := newServiceFixture(t, db, c)
		s.connections[0].Operators = []string{"Airtel"}
		r := s.redirected(order.Answer{})
		if r.Provider != "second" || r.State != schema.RechargeSuccess {
			t.Fatalf("got %+v", r)
		}
		for provider, want := range map[string]string{"second": "", "fake": settle.AlarmLateSuccess} {
			_, err := s.Settle(t.Context(), schema.Live, provider, r.ID, order.Answer{Outcome: order.Succeeded}, "test")
			if (err == nil) != (want != "") {
				t.Errorf("%s: %v", provider, err)
			}
		}
	})
}
