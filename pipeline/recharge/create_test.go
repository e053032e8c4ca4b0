package recharge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/internal/access/accesstest"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

func TestRechargeSucceeds(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		q := s.request()
		rec, replayed, err := s.Do(t.Context(), q, time.Minute)
		if err != nil || replayed {
			t.Fatalf("got %v, %v", replayed, err)
		}
		want := record.Record{
			Base: transaction.Base{
				Owner: s.owner, RefID: "ref-1", Provider: "fake", ProviderRef: "theirs", Sent: true, SentAt: noon, CreatedAt: noon, FinishedAt: noon,
			},
			State: schema.RechargeSuccess, Type: schema.Prepaid, Number: "9810012345", RequestedOperator: "Airtel", Operator: "Airtel", Circle: "Delhi",
			Amount: 100_00, Reference: rec.ID,
		}
		if diff := cmp.Diff(want, rec, cmpopts.IgnoreFields(record.Record{}, "ID")); diff != "" {
			t.Errorf("the recharge (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(rec, s.find(rec.ID)); diff != "" {
			t.Errorf("what is stored (-returned +stored):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"recharge.create key_1", "recharge.success operator"}, s.audited()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
		again, replayed, err := s.Do(t.Context(), q, time.Minute)
		if diff := cmp.Diff(rec, again); diff != "" || !replayed || err != nil {
			t.Errorf("replayed: %v, %v, %s", replayed, err, diff)
		}
		if got := s.metric("vayu_recharge_outcomes_total", "world", "live", "provider", "fake", "outcome", "success"); got != 1 {
			t.Errorf("%v successes are counted", got)
		}
	})
}

// A ref_id is used for ever: it returns the same recharge for the same request in any
// state, and an error for another request.
func TestRefIDIsForOneRecharge(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		for _, state := range schema.RechargeStates {
			r := s.reach(state)
			q := s.request()
			q.RefID = r.RefID
			if got, replayed, err := s.Do(t.Context(), q, time.Minute); got.ID != r.ID || !replayed || err != nil {
				t.Errorf("%s: got %+v, %v, %v", state, got, replayed, err)
			}
			for name, change := range map[string]func(*request.Request){
				"amount": func(q *request.Request) { q.Amount++ }, "number": func(q *request.Request) { q.Number = "9810012346" },
				"operator": func(q *request.Request) { q.RequestedOperator = "" }, "type": func(q *request.Request) { q.Type = schema.DTH },
				"batch": func(q *request.Request) { q.Item = &transaction.BatchItem{Batch: "rbt_1", Index: 0} },
			} {
				other := q
				change(&other)
				_, _, err := s.Do(t.Context(), other, time.Minute)
				if p := accesstest.WantProblem(t, err, schema.DuplicateRefID, "ref_id"); !strings.Contains(p.Message, r.ID) {
					t.Errorf("%s, another %s: %q does not name it", state, name, p.Message)
				}
			}
		}
	})
}

func TestConcurrentRequestsWithOneRefID(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		const callers = 100
		q := s.request()
		q.Amount = 1000_00 // all that there is
		var all sync.WaitGroup
		var mu sync.Mutex
		ids, made := map[string]bool{}, 0
		for range callers {
			all.Go(func() {
				rec, replayed, err := s.Do(context.Background(), q, 0)
				mu.Lock()
				defer mu.Unlock()
				ids[rec.ID] = true
				if !replayed {
					made++
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s.Queue.Wait()
		s.advance(0) // who was first may have found all slots with those who were not
		switch {
		case len(ids) != 1:
			t.Errorf("len(ids) = %v, want 1", len(ids))
		case made != 1:
			t.Errorf("made = %v, want 1", made)
		case len(s.fake.calls()) != 1 || len(s.events()) != 1 || len(s.audited()) != 2:
			t.Errorf("%d recharges, %d made, events %v, audited %v", len(ids), made, s.events(), s.audited())
		}
		s.balance(0, 0)
	})
}

func TestConcurrentRequestsCannotOverdraw(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		var all sync.WaitGroup
		got := make([]record.Record, 2)
		for i := range got {
			q := s.request()
			q.Amount = 500_01
			all.Go(func() {
				var err error
				if got[i], _, err = s.Do(context.Background(), q, time.Minute); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		states := map[schema.RechargeState]int{got[0].State: 1}
		states[got[1].State]++
		if diff := cmp.Diff(map[schema.RechargeState]int{schema.RechargeSuccess: 1, schema.RechargeFailed: 1}, states); diff != "" {
			t.Error(diff)
		}
		s.balance(499_99, 0)
	})
}

// Some rejections are recorded as failed recharges, without a call.
func TestImmediateFailureIsRecorded(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		for code, change := range map[schema.Code]func(*request.Request){
			schema.InvalidNumber:       func(q *request.Request) { q.Number, q.Valid, q.RequestedOperator = "12", false, "" },
			schema.InsufficientBalance: func(q *request.Request) { q.Amount = 1000_01 },
		} {
			q := s.request()
			change(&q)
			rec, replayed, err := s.Do(t.Context(), q, time.Minute)
			switch {
			case err != nil:
				t.Errorf("%s: %v", code, err)
			case replayed:
				t.Errorf("%s: replayed is true", code)
			case rec.State != schema.RechargeFailed:
				t.Errorf("%s: rec.State = %v, want %v", code, rec.State, schema.RechargeFailed)
			case rec.ErrorCode != code:
				t.Errorf("%s: rec.ErrorCode = %v, want %v", code, rec.ErrorCode, code)
			case rec.ErrorMessage == "":
				t.Errorf("%s: rec.ErrorMessage is empty", code)
			case rec.Provider != "":
				t.Errorf("%s: rec.Provider = %q, want none", code, rec.Provider)
			case rec.Sent:
				t.Errorf("%s: rec.Sent is true", code)
			}
			if diff := cmp.Diff(rec, s.find(rec.ID)); diff != "" {
				t.Errorf("%s: what is stored (-returned +stored):\n%s", code, diff)
			}
			if _, replayed, err := s.Do(t.Context(), q, 0); !replayed || err != nil {
				t.Errorf("%s again: %v, %v", code, replayed, err)
			}
		}
		if diff := cmp.Diff([]string{"recharge.failed", "recharge.failed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"recharge.failed key_1", "recharge.failed key_1"}, s.audited()); diff != "" {
			t.Error(diff)
		}
		if got := s.fake.calls(); len(got) != 0 {
			t.Errorf("the provider received %q", got)
		}
		s.advance(time.Hour)
		if got := s.fake.calls(); len(got) != 0 {
			t.Errorf("the provider received %q later", got)
		}
		s.balance(1000_00, 0)
	})
}

// Other rejections store nothing.
func TestRejectedRequestIsNotRecorded(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		refuse := func(says string, code schema.Code, field string, change func(*request.Request)) {
			t.Helper()
			q := s.request()
			change(&q)
			_, _, err := s.Do(t.Context(), q, time.Minute)
			if p := accesstest.WantProblem(t, err, code, field); !strings.Contains(p.Message, says) {
				t.Errorf("%q does not say %q", p.Message, says)
			}
		}
		refuse("could not be detected", schema.OperatorNotDetected, "operator", func(q *request.Request) { q.RequestedOperator, q.Number = "", "6010000000" })
		refuse("operator auto requires the type prepaid", schema.OperatorNotDetected, "operator", func(q *request.Request) { q.RequestedOperator, q.Type, q.Number = "", schema.DTH, "1234567890" })
		refuse("No provider is connected for recharges of Airtel.", schema.OperatorUnavailable, "operator", func(q *request.Request) { q.Owner.World = schema.Sandbox })
		s.fake.set(func() { s.fake.away = true })
		refuse("at the moment", schema.OperatorUnavailable, "", func(*request.Request) {})
		ended, end := context.WithCancel(t.Context())
		end()
		if _, _, err := s.Do(ended, s.request(), time.Minute); !errors.Is(err, context.Canceled) {
			t.Errorf("after its client has gone: %v", err)
		}
		var rows int
		if err := s.DB.View(t.Context()).QueryRow("SELECT (SELECT count(*) FROM recharge) + (SELECT count(*) FROM audit WHERE action LIKE 'recharge.%')").Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows are left, %v", rows, err)
		}
		s.balance(1000_00, 0)
	})
}

// The first available connection that serves the operator is used.
func TestRouteUsesFirstAvailableConnection(t *testing.T) {
	t.Parallel()
	closed := false
	serves := func(name string, operators ...string) order.Connection {
		c := (&fakeProvider{}).connection()
		c.Name, c.Operators, c.Directory = name, operators, nil
		return c
	}
	c := serves("picky", "Jio")
	c.Available = func() bool { return !closed }
	s := Service{Core: transaction.NewCore(kind, transaction.Options{})}
	for _, each := range []order.Connection{c, serves("broken", "Vi"), serves("rest", "Jio", "Airtel")} {
		if each.Name == "broken" {
			each.Available = func() bool { panic("no") }
		}
		if err := s.connect(each); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		operator, name string
		closed, ok     bool
	}{
		{"Jio", "picky", false, true}, {"Jio", "rest", true, true}, {"Airtel", "rest", false, true}, {"BSNL", "", false, false}, {"Vi", "broken", false, false},
	} {
		t.Run(fmt.Sprintf("%s, the first is closed: %v", want.operator, want.closed), func(t *testing.T) {
			closed = want.closed
			l, ok := s.route(schema.Live, want.operator)
			name := ""
			if l != nil {
				name = l.Name
			}
			if name != want.name || ok != want.ok {
				t.Errorf("got %q, %v, want %q, %v", name, ok, want.name, want.ok)
			}
		})
	}
}

func TestNewRejectsInvalidConnections(t *testing.T) {
	t.Parallel()
	good := (&fakeProvider{}).connection()
	for name, change := range map[string]func(*order.Connection){
		"one name":                func(*order.Connection) {},
		"one name in both worlds": func(c *order.Connection) { c.World = schema.Sandbox },
		"no operator":             func(c *order.Connection) { c.Name, c.Operator = "b", nil },
		"no timeout":              func(c *order.Connection) { c.Name, c.Timeout = "b", 0 }, "no room": func(c *order.Connection) { c.Name, c.Concurrency = "b", 0 },
	} {
		c := good
		change(&c)
		if _, err := New(Config{Connections: []order.Connection{good, c}}); err == nil {
			t.Errorf("%s: it was made", name)
		}
	}
}
