package recharge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// story is what is shown of a recharge, and its steps as "act answer times".
func (s *stage) story(id string) (shown schema.RechargeDetail, steps []string) {
	s.t.Helper()
	door := accesstest.NewDoor(s.t, accesstest.Access(s.t, s.DB, time.Now), s.Routes())
	reply := door.Ask(s.tenant.Keys[schema.Live], "GET", path+"/"+id+"?view=detail", "").Want(s.t, "a story", 200)
	if err := json.Unmarshal([]byte(reply.Text), &shown); err != nil {
		s.t.Fatal(err)
	}
	last := ""
	for _, step := range shown.Steps {
		if step.At < last || step.Until < step.At {
			s.t.Errorf("steps are not in the order of their times: %s", reply.Text)
		}
		last = step.Until
		text := fmt.Sprint(step.Act, " ", step.Answer)
		if step.Times > 1 {
			text += fmt.Sprint(" ", step.Times)
		}
		steps = append(steps, text)
	}
	return shown, steps
}

// wantStory demands the steps between created and what is wanted.
func (s *stage) wantStory(id string, want ...string) schema.RechargeDetail {
	s.t.Helper()
	shown, got := s.story(id)
	if diff := cmp.Diff(append([]string{"created recorded"}, want...), got); diff != "" {
		s.t.Errorf("the story (-want +got):\n%s", diff)
	}
	return shown
}

// rows is how many steps are in the store.
func (s *stage) rows() (n int) {
	s.t.Helper()
	if err := s.DB.View(s.t.Context()).QueryRow("SELECT count(*) FROM upstream_step").Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// What is answered at once writes no step.
func TestAnImmediateStoryIsInTheRow(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		good := s.do(s.request())
		s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Failed, Code: schema.InvalidNumber}) })
		bad := s.do(s.request())
		q := s.request()
		q.Amount = 5000_00
		poor := s.do(q)
		if n := s.rows(); n != 0 {
			t.Errorf("%d steps are stored", n)
		}
		got := s.wantStory(good.ID, "submit succeeded", "settled success")
		if got.Provider != "puppet" || got.ProviderRef != "theirs" || got.Tries != 0 || got.NextLookAt != "" || got.Status != schema.RechargeSuccess {
			t.Errorf("got %+v", got)
		}
		s.wantStory(bad.ID, "submit failed", "settled failed")
		s.wantStory(poor.ID, "settled failed")
		door := accesstest.NewDoor(t, accesstest.Access(t, s.DB, time.Now), s.Routes())
		key := s.tenant.Keys[schema.Live]
		for _, query := range []string{"?view=", "?view=full", "?view=detail&view=detail"} {
			door.Ask(key, "GET", path+"/"+good.ID+query, "").WantError(t, query, 400, schema.InvalidRequest, "view")
		}
		door.Ask(key, "GET", path+"/txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9?view=detail", "").WantError(t, "of nothing", 404, schema.NotFound, "")
	})
}

// A hundred looks with one answer are one step.
func TestAStoryOfWaitingIsShort(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		pending := says(Answer{Outcome: Pending})
		s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = fails(errLost), pending })
		r := s.do(s.request())
		for range 100 {
			s.turn(longestPause)
		}
		got := s.wantStory(r.ID, "submit no_answer", "enquire pending 100")
		next, err := time.Parse(time.RFC3339Nano, got.NextLookAt)
		if err != nil || next.Sub(s.clock.Now()) != s.dueIn(r.ID) || got.Tries != 101 || s.rows() != 2 {
			t.Errorf("it is looked at at %q after %d tries, with %d steps", got.NextLookAt, got.Tries, s.rows())
		}
		s.puppet.set(func() { s.puppet.enquire = nil })
		s.turn(longestPause)
		if got := s.wantStory(r.ID, "submit no_answer", "enquire pending 100", "enquire succeeded", "settled success"); got.NextLookAt != "" {
			t.Errorf("it is looked at again at %s", got.NextLookAt)
		}
	})
}

// Everything that a provider can do instead of answering has a word.
func TestEveryTroubleIsInTheStory(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		set := func(submit, enquire func(Order) (Answer, error)) {
			s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = submit, enquire })
		}
		set(fails(ErrNotSent), nil)
		s.wantStory(s.do(s.request()).ID, "submit not_connected", "settled failed")
		set(fails(fmt.Errorf("a breaker: %w", ErrNotAsked)), nil)
		r := s.do(s.request())
		s.turn(upstream.AwayPause)
		set(says(Answer{Outcome: -1}), fails(ErrNotSent))
		s.turn(upstream.AwayPause)
		s.turn(time.Minute)
		set(says(Answer{Outcome: Pending}), says(Answer{Outcome: Unknown}))
		s.turn(time.Minute)
		set(nil, says(Answer{Outcome: Pending}))
		for _, a := range []Answer{{Outcome: Pending}, {Outcome: Pending}, {Outcome: Failed, Code: schema.InvalidNumber}, {Outcome: Failed}, {Outcome: Succeeded}, {Outcome: Succeeded}} {
			if _, err := s.Settle(t.Context(), schema.Live, "puppet", r.ID, a, "provider:puppet"); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"submit not_asked 2", "submit not_understood", "enquire not_connected", "enquire unknown", "submit pending", "callback pending 2",
			"callback failed", "settled failed", "callback late_success",
		}
		if got := s.wantStory(r.ID, want...); got.Alarm != alarmLateSuccess {
			t.Errorf("the alarm is %q", got.Alarm)
		}
	})
}

// Who says so stands in the story, and a refund is part of it.
func TestARefundIsInTheStory(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		r := s.do(s.request())
		s.puppet.set(func() { s.puppet.reverse, s.puppet.enquire = fails(errLost), says(Answer{Outcome: Reversed}) })
		if _, err := s.Refund(t.Context(), s.owner, r.ID, "not wanted", s.request().By); err != nil {
			t.Fatal(err)
		}
		s.calls.Wait()
		s.turn(firstPause)
		s.wantStory(r.ID, "submit succeeded", "settled success", "reverse no_answer", "enquire reversed", "settled refunded")
		for by, act := range map[string]string{ByFile: "file", "command": "manual"} {
			s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Pending}) })
			r := s.do(s.request())
			if _, err := s.Settle(t.Context(), schema.Live, "puppet", r.ID, Answer{Outcome: Succeeded}, by); err != nil {
				t.Fatal(err)
			}
			s.wantStory(r.ID, "submit pending", act+" succeeded", "settled success")
		}
		s.puppet.set(func() { s.puppet.submit, s.puppet.reverse = nil, says(Answer{Outcome: Reversed}) })
		granted := s.do(s.request())
		before := s.rows()
		if _, err := s.Refund(t.Context(), s.owner, granted.ID, "not wanted", s.request().By); err != nil {
			t.Fatal(err)
		}
		s.calls.Wait()
		s.wantStory(granted.ID, "submit succeeded", "settled success", "settled refunded")
		if s.rows() != before {
			t.Error("a refund that was granted at once has steps")
		}
	})
}

// A number that was another operator's goes on with that one, and that is told.
func TestARedirectionIsInTheStory(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		known := false
		s.puppet.set(func() {
			s.puppet.detect = func(string) (Subscriber, error) {
				if known {
					return Subscriber{"Jio", "Mumbai"}, nil
				}
				known = true
				return Subscriber{"Airtel", "Mumbai"}, nil
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
		r := s.do(q)
		if _, err := s.Settle(t.Context(), schema.Live, "puppet", r.ID, Answer{Outcome: Succeeded}, "provider:puppet"); err != nil {
			t.Fatal(err)
		}
		s.wantStory(r.ID, "submit redirected", "submit succeeded", "settled success", "callback stray")
	})
}

// A step is of its outcome's transaction: without the one there is not the other.
func TestAStoryIsRecordedWithItsOutcome(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Pending}) })
		r := s.do(s.request())
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE upstream_step RENAME TO elsewhere")
		s.turn(firstPause)
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE elsewhere RENAME TO upstream_step")
		if got := s.see(r.ID); got.State != schema.RechargePending || s.figure("vayu_recharge_store_failures_total", "doing", "record") != 1 {
			t.Errorf("without its step it is %s", got.State)
		}
		s.turn(time.Minute)
		_, got := s.story(r.ID)
		if !slices.Equal(got, []string{"created recorded", "submit pending", "enquire succeeded", "settled success"}) {
			t.Errorf("got %q", got)
		}
	})
}

// Clocks of instances differ: what was told to one that is behind is told in the order
// in which it came.
func TestAStoryIsInOrderByAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() {
			s.puppet.submit = func(Order) (Answer, error) {
				s.clock.Pass(100 * time.Millisecond)
				return Answer{Outcome: Pending}, nil
			}
		})
		r := s.do(s.request())
		s.clock.Pass(-60 * time.Millisecond)
		if _, err := s.Settle(t.Context(), schema.Live, "puppet", r.ID, Answer{Outcome: Succeeded}, "provider:puppet"); err != nil {
			t.Fatal(err)
		}
		s.wantStory(r.ID, "submit pending", "callback succeeded", "settled success")
		if _, err := s.Settle(t.Context(), schema.Live, "puppet", r.ID, Answer{Outcome: Reversed}, "provider:puppet"); err != nil {
			t.Fatal(err)
		}
		s.wantStory(r.ID, "submit pending", "callback succeeded", "settled success", "callback reversed", "settled refunded")
	})
}
