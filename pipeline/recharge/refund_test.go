package recharge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

var by = httpapi.Who{Key: "key_2", Request: "req_2", Client: "192.0.2.2"}

func TestARefundIsAskedFor(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		r := s.reach(schema.RechargeSuccess)
		s.puppet.set(func() { s.puppet.reverse = says(Answer{Outcome: Reversed, Reason: "theirs"}) })
		got, err := s.Refund(t.Context(), s.owner, r.ID, "a wrong number", by)
		if err != nil || got.State != schema.RechargeRefunded || got.RefundReason != "a wrong number" || !strings.HasPrefix(got.RefundID, "rfd_") {
			t.Fatalf("got %+v, %v", got, err)
		}
		s.puppet.calls()
		again, err := s.Refund(t.Context(), s.owner, r.ID, "once more", by)
		if diff := cmp.Diff(got, again); diff != "" || err != nil || len(s.puppet.calls()) != 0 {
			t.Errorf("once more: %v, %s", err, diff)
		}
		if diff := cmp.Diff([]string{"recharge.create key_1", "recharge.success operator", "recharge.refund key_2", "recharge.refunded operator"}, s.audited()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"recharge.completed", "recharge.refunded"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(1000_00, 0)
	})
}

// A refund without an answer is asked for again, until there is one: each time after
// it was asked whether the recharge stands.
func TestARefundThatIsWantedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(Order) (Answer, error){
		"pending": says(Answer{Outcome: Pending}), "error": fails(errLost), "not sent": fails(ErrNotSent), "still carried out": says(Answer{Outcome: Succeeded}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, func(t *testing.T, s *stage) {
				r := s.reach(schema.RechargeSuccess)
				s.puppet.set(func() { s.puppet.reverse = say })
				got, err := s.Refund(t.Context(), s.owner, r.ID, "not wanted", by)
				if err != nil || got.State != schema.RechargeSuccess || got.RefundID == "" || s.dueIn(r.ID) != firstPause {
					t.Fatalf("got %+v, %v, due in %s", got, err, s.dueIn(r.ID))
				}
				s.puppet.calls()
				if again, err := s.Refund(t.Context(), s.owner, r.ID, "not wanted", by); err != nil || again.RefundID != got.RefundID || len(s.puppet.calls()) != 0 {
					t.Errorf("again: %+v, %v", again, err)
				}
				s.turn(firstPause)
				s.puppet.set(func() { s.puppet.reverse = says(Answer{Outcome: Reversed}) })
				s.turn(2 * firstPause)
				if diff := cmp.Diff([]string{"enquire Airtel", "reverse Airtel", "enquire Airtel", "reverse Airtel"}, s.puppet.calls()); diff != "" {
					t.Error(diff)
				}
				if got := s.see(r.ID); got.State != schema.RechargeRefunded {
					t.Errorf("it is %s", got.State)
				}
				s.balance(1000_00, 0)
			})
		})
	}
}

func TestARefundThatIsRefusedIsAsIfNobodyHadAsked(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		r := s.reach(schema.RechargeSuccess)
		s.puppet.set(func() { s.puppet.reverse = says(Answer{Outcome: Failed}) })
		for range 2 {
			_, err := s.Refund(t.Context(), s.owner, r.ID, "not wanted", by)
			refusedAs(t, err, schema.InvalidRequest, "id")
			if diff := cmp.Diff(r, s.see(r.ID)); diff != "" {
				t.Errorf("it has changed: %s", diff)
			}
		}
		s.puppet.set(func() { s.puppet.reverse = fails(errLost) })
		if _, err := s.Refund(t.Context(), s.owner, r.ID, "not wanted", by); err != nil {
			t.Fatal(err)
		}
		s.puppet.set(func() { s.puppet.reverse = says(Answer{Outcome: Failed}) })
		s.turn(firstPause)
		if diff := cmp.Diff(r, s.see(r.ID), cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Tries" }, cmp.Ignore())); diff != "" {
			t.Errorf("it has changed: %s", diff)
		}
		if got := s.audited(); got[len(got)-1] != "recharge.refund_refused operator" {
			t.Errorf("the audit log ends with %q", got[len(got)-1])
		}
		s.balance(900_00, 0)
	})
}

// A refund whose answer was lost may have been granted: that the provider refuses to
// do it again is no word on that.
func TestARefundWhoseAnswerWasLostIsAskedAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stands []Answer // what it says of the recharge, one enquiry after the other
		want   schema.RechargeState
		heard  []string
	}{
		"granted":               {[]Answer{{Outcome: Reversed}}, schema.RechargeRefunded, []string{"enquire"}},
		"granted at last":       {[]Answer{{Outcome: Succeeded}, {Outcome: Reversed}}, schema.RechargeRefunded, []string{"enquire", "reverse", "enquire"}},
		"refused":               {[]Answer{{Outcome: Succeeded}, {Outcome: Succeeded}}, schema.RechargeSuccess, []string{"enquire", "reverse", "enquire"}},
		"nobody knows":          {[]Answer{{Outcome: Unknown}, {Outcome: Pending}, {Outcome: Reversed}}, schema.RechargeRefunded, []string{"enquire", "enquire", "enquire"}},
		"not known afterwards":  {[]Answer{{Outcome: Succeeded}, {Outcome: Pending}, {Outcome: Reversed}}, schema.RechargeRefunded, []string{"enquire", "reverse", "enquire", "enquire"}},
		"said to be failed":     {[]Answer{{Outcome: Failed}, {Outcome: Failed}, {Outcome: Reversed}}, schema.RechargeRefunded, []string{"enquire", "enquire", "enquire"}},
		"it does not look well": {[]Answer{{Outcome: 99}, {Outcome: Reversed}}, schema.RechargeRefunded, []string{"enquire", "enquire"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, func(t *testing.T, s *stage) {
				r := s.reach(schema.RechargeSuccess)
				s.puppet.set(func() { s.puppet.reverse = fails(errLost) })
				if got, err := s.Refund(t.Context(), s.owner, r.ID, "not wanted", by); err != nil || got.RefundID == "" {
					t.Fatalf("got %+v, %v", got, err)
				}
				said := c.stands
				s.puppet.set(func() {
					s.puppet.reverse = says(Answer{Outcome: Failed}) // there is nothing left to take back
					s.puppet.enquire = func(Order) (Answer, error) {
						a := said[0]
						said = said[1:]
						return a, nil
					}
				})
				s.puppet.calls()
				for len(said) > 0 {
					if got := s.see(r.ID); got.State != schema.RechargeSuccess || got.RefundID == "" || s.dueIn(r.ID) <= 0 {
						t.Fatalf("it is %s with the refund %q, due in %s", got.State, got.RefundID, s.dueIn(r.ID))
					}
					s.turn(longestPause)
				}
				if got := s.see(r.ID); got.State != c.want || (got.RefundID == "") != (c.want == schema.RechargeSuccess) {
					t.Errorf("it is %s with the refund %q", got.State, got.RefundID)
				}
				if diff := cmp.Diff(strings.Join(c.heard, " Airtel ")+" Airtel", strings.Join(s.puppet.calls(), " ")); diff != "" {
					t.Error(diff)
				}
				s.puppet.set(func() { s.puppet.enquire = nil })
				s.turn(0) // when it is refused, it is asked whether there is something to look for
			})
		})
	}
}

// That a refund is refused counts for whoever has the lease: somebody else may have
// been granted it since.
func TestARefusalWithoutALeaseIsNone(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		r := s.reach(schema.RechargeSuccess)
		s.puppet.set(func() { s.puppet.reverse = fails(errLost) })
		r, err := s.Refund(t.Context(), s.owner, r.ID, "not wanted", by)
		if err != nil {
			t.Fatal(err)
		}
		w := word{Answer: Answer{Outcome: Failed}, call: reverse, reference: r.Reference, asked: s.Now(), by: actor}
		out, err := s.settle(t.Context(), &r, &w, upstream.Lease{Token: "of somebody else", Until: noon.Add(time.Hour)})
		if got := s.see(r.ID); err != nil || out.verdict != rest || got.RefundID != r.RefundID || s.dueIn(r.ID) != firstPause {
			t.Errorf("got %+v, %v; it is %+v, due in %s", out, err, got, s.dueIn(r.ID))
		}
	})
}

// A provider that wants to be asked again about what is final is, also when he has
// refused a refund meanwhile.
func TestARefundThatIsRefusedForgetsNoLook(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() {
			s.puppet.submit = says(Answer{Outcome: Succeeded, Again: time.Hour})
			s.puppet.reverse = says(Answer{Outcome: Failed})
			s.puppet.enquire = says(Answer{Outcome: Succeeded, Again: time.Hour})
		})
		r := s.do(s.request())
		_, err := s.Refund(t.Context(), s.owner, r.ID, "not wanted", by)
		refusedAs(t, err, schema.InvalidRequest, "id")
		s.puppet.calls()
		s.turn(0)
		if diff := cmp.Diff([]string{"enquire Airtel"}, s.puppet.calls()); diff != "" || s.dueIn(r.ID) != time.Hour {
			t.Errorf("it is due in %s, and the provider heard %s", s.dueIn(r.ID), diff)
		}
		s.puppet.set(func() { s.puppet.enquire = says(Answer{Outcome: Reversed}) })
		s.turn(time.Hour)
		if got := s.see(r.ID); got.State != schema.RechargeRefunded {
			t.Errorf("it is %s", got.State)
		}
		s.puppet.set(func() { s.puppet.enquire = says(Answer{Outcome: Succeeded}) })
		other := s.reach(schema.RechargeSuccess) // nobody wants to be asked about this one
		_, err = s.Refund(t.Context(), s.owner, other.ID, "not wanted", by)
		refusedAs(t, err, schema.InvalidRequest, "id")
		s.turn(0)
		s.puppet.calls()
		s.turn(24 * time.Hour)
		if got := s.puppet.calls(); len(got) != 0 {
			t.Errorf("afterwards it heard %q", got)
		}
		s.balance(900_00, 0)
	})
}

func TestNotEverythingCanBeRefunded(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		for state, word := range map[schema.RechargeState]string{schema.RechargePending: "pending", schema.RechargeFailed: "failed"} {
			_, err := s.Refund(t.Context(), s.owner, s.reach(state).ID, "", by)
			if p := refusedAs(t, err, schema.InvalidRequest, "id"); !strings.Contains(p.Message, word) {
				t.Errorf("%s: %q", state, p.Message)
			}
		}
		r := s.reach(schema.RechargeSuccess)
		_, err := s.Refund(t.Context(), schema.Owner{Account: s.owner.Account, World: schema.Sandbox}, r.ID, "", by)
		refusedAs(t, err, schema.NotFound, "")
		_, err = s.Refund(t.Context(), s.owner, "txn_none", "", by)
		refusedAs(t, err, schema.NotFound, "")
		s.lines[0].Reverser = nil
		_, err = s.Refund(t.Context(), s.owner, r.ID, "", by)
		refusedAs(t, err, schema.Forbidden, "")
		if diff := cmp.Diff(r, s.see(r.ID)); diff != "" {
			t.Errorf("it has changed: %s", diff)
		}
	})
}

// Asked for many times at once, it is asked of the provider once, and given once.
func TestARefundIsAskedForAtOnce(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		r := s.reach(schema.RechargeSuccess)
		s.puppet.calls()
		s.puppet.set(func() { s.puppet.reverse = says(Answer{Outcome: Reversed}) })
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := s.Refund(context.Background(), s.owner, r.ID, "", by); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s.calls.Wait()
		s.puppet.set(func() { s.puppet.enquire = nil })
		s.turn(0) // who was first may have found all slots with those who were not
		heard := slices.DeleteFunc(s.puppet.calls(), func(call string) bool { return call == "enquire Airtel" })
		if diff := cmp.Diff([]string{"reverse Airtel"}, heard); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"recharge.completed", "recharge.refunded"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(1000_00, 0)
	})
}

// A number that belongs to another operator goes on there once, as another order.
func TestAPortedNumberGoesOnWithItsOperator(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(p *puppet) []Connection{
		"of the same provider": func(*puppet) []Connection { return nil },
		"of another": func(p *puppet) []Connection {
			c := p.connection()
			c.Name, c.Operators = "second", []string{"Jio"}
			return []Connection{c}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { portedNumber(t, db, second) })
		})
	}
}

func portedNumber(t *testing.T, db *sqlstore.DB, second func(*puppet) []Connection) {
	t.Helper()
	other := &puppet{}
	more := second(other)
	s := newStage(t, db, more...)
	provider, looked := "puppet", false
	if more != nil {
		provider = "second"
		s.lines[0].Operators = []string{"Airtel"}
	}
	s.puppet.set(func() {
		s.puppet.detect = func(string) (Subscriber, error) {
			if !looked {
				looked = true
				return Subscriber{}, errLost // then the series says who it was
			}
			return Subscriber{"Jio", "Mumbai"}, nil
		}
		s.puppet.submit = func(o Order) (Answer, error) {
			if o.Operator != "Jio" {
				return Answer{Outcome: NotSubscriber}, nil
			}
			return Answer{Outcome: Succeeded}, nil
		}
	})
	q := s.request()
	q.Asked = ""
	got, _, err := s.Do(t.Context(), q, time.Minute)
	s.calls.Wait()
	if err != nil || got.State != schema.RechargeSuccess || got.Operator != "Jio" || got.Circle != "Mumbai" || got.Detection != sourceLookup ||
		got.Provider != provider || got.Reference != got.ID+"-2" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got := s.figure("vayu_recharge_redetections_total"); got != 1 {
		t.Errorf("%v redetections are counted", got)
	}
	for _, l := range s.lines {
		if got := l.Slots(); got.Busy != 0 || got.Batches != 0 {
			t.Errorf("%s has slots taken: %+v", l.Name, got)
		}
	}
	// What is said now of the first order contradicts itself.
	for range 2 {
		late, err := s.Settle(t.Context(), schema.Live, "puppet", got.ID, Answer{Outcome: Succeeded}, "test")
		if err != nil || late.State != schema.RechargeSuccess || late.Alarm != alarmLateSuccess {
			t.Errorf("got %+v, %v", late, err)
		}
	}
	if _, err := s.Settle(t.Context(), schema.Live, "puppet", got.ID, Answer{Outcome: Failed}, "test"); err != nil {
		t.Error(err)
	}
	s.balance(900_00, 0)
}

// When it cannot be looked up whose a number is, it is not said to be nobody's: it is
// looked up again, at the next look or when the provider tells of it once more.
func TestANumberThatCannotBeLookedUpWaits(t *testing.T) {
	t.Parallel()
	for name, detect := range map[string]func(string) (Subscriber, error){
		"error":    func(string) (Subscriber, error) { return Subscriber{}, errLost },
		"not sent": func(string) (Subscriber, error) { return Subscriber{}, ErrNotSent },
		"panic":    func(string) (Subscriber, error) { panic("no") },
		"away":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, func(t *testing.T, s *stage) {
				alien := Answer{Outcome: NotSubscriber}
				s.puppet.set(func() {
					s.puppet.detect, s.puppet.enquire = detect, says(alien)
					s.puppet.submit = func(Order) (Answer, error) {
						s.puppet.set(func() { s.puppet.away = detect == nil })
						return alien, nil
					}
				})
				q := s.request()
				q.Asked = ""
				r := s.do(q) // the series knows whose it was
				if r.State != schema.RechargePending || r.Operator != "Airtel" || s.dueIn(r.ID) != firstPause {
					t.Fatalf("got %+v, due in %s", r, s.dueIn(r.ID))
				}
				if got := s.told(r, alien); got.State != schema.RechargePending || s.dueIn(r.ID) != firstPause {
					t.Errorf("told by himself: %+v, due in %s", got, s.dueIn(r.ID))
				}
				s.puppet.calls()
				s.puppet.set(func() {
					s.puppet.away = false
					s.puppet.detect = func(string) (Subscriber, error) { return Subscriber{Operator: "Jio"}, nil }
					s.puppet.submit = nil
				})
				s.turn(firstPause)
				if diff := cmp.Diff([]string{"enquire Airtel", "detect", "submit Jio"}, s.puppet.calls()); diff != "" {
					t.Error(diff)
				}
				if got := s.see(r.ID); got.State != schema.RechargeSuccess || got.Operator != "Jio" {
					t.Errorf("got %+v", got)
				}
				s.balance(900_00, 0)
			})
		})
	}
}

// Nothing goes on a second time, or where the client named the operator, or where
// nobody knows better.
func TestANumberOfNobodyElseHasFailed(t *testing.T) {
	t.Parallel()
	jio := func(string) (Subscriber, error) { return Subscriber{Operator: "Jio"}, nil }
	for name, c := range map[string]struct {
		asked  string
		detect func(string) (Subscriber, error)
		heard  []string
	}{
		"named":        {"Airtel", jio, []string{"submit Airtel"}},
		"the same":     {"", jio, []string{"detect", "submit Jio", "detect"}},
		"nobody knows": {"", nil, []string{"detect", "submit Airtel", "detect"}},
		"not for that": {"", func(string) (Subscriber, error) { return Subscriber{}, fmt.Errorf("plans only: %w", ErrNoDetection) }, []string{"detect", "submit Airtel", "detect"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, func(t *testing.T, s *stage) {
				s.puppet.set(func() { s.puppet.detect, s.puppet.submit = c.detect, says(Answer{Outcome: NotSubscriber}) })
				q := s.request()
				q.Asked = c.asked
				if r := s.do(q); r.State != schema.RechargeFailed || r.ErrorCode != schema.InvalidNumber {
					t.Errorf("got %+v", r)
				}
				if diff := cmp.Diff(c.heard, s.puppet.calls()); diff != "" {
					t.Error(diff)
				}
				s.balance(1000_00, 0)
			})
		})
	}
	t.Run("a second time", func(t *testing.T) {
		t.Parallel()
		eachStage(t, func(t *testing.T, s *stage) {
			n := 0
			s.puppet.set(func() {
				s.puppet.submit = says(Answer{Outcome: NotSubscriber})
				s.puppet.detect = func(string) (Subscriber, error) {
					n++
					return Subscriber{Operator: [...]string{"Airtel", "Jio", "Vi"}[n-1]}, nil
				}
			})
			q := s.request()
			q.Asked = ""
			if r := s.do(q); r.State != schema.RechargeFailed || r.ErrorCode != schema.InvalidNumber || r.Operator != "Jio" {
				t.Errorf("got %+v", r)
			}
			if diff := cmp.Diff([]string{"detect", "submit Airtel", "detect", "submit Jio"}, s.puppet.calls()); diff != "" {
				t.Error(diff)
			}
		})
	})
}
