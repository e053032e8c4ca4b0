package verify

import (
	"testing"
	"time"

	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// Many requests of a key for missing accounts raise an alarm, once an hour.
func TestEnumerationRaisesAlarm(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.set(func(c *Settings) { c.EnumerationThreshold = 3 })
		s.bank.set(func() {
			s.bank.deposit, s.bank.resolve = answers(bank.Answer{Outcome: bank.NotFound}), answers(bank.Answer{Outcome: bank.NotFound})
		})
		miss := func(key string, q request.Request, alarms int) {
			t.Helper()
			q.Caller.Key = key
			if r := s.do(q); r.State == schema.VerificationPending {
				t.Errorf("got %+v", r)
			}
			if got := s.metric("vayu_verify_enumeration_alarms_total"); got != float64(alarms) || s.log.Count("it may be guessing numbers") != alarms {
				t.Errorf("alarms counted: got %v, want %d; %s", got, alarms, s.log)
			}
		}
		for range 3 {
			miss("key_1", s.request(), 0)
			miss("key_2", s.address(), 0)
		}
		s.bank.set(func() { s.bank.deposit = nil })
		miss("key_1", s.request(), 0) // which exists
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.NotFound}) })
		miss("key_1", s.request(), 1)
		miss("key_1", s.request(), 1)
		miss("key_2", s.address(), 2)
		s.clock.Advance(time.Hour)
		for range 3 {
			miss("key_1", s.request(), 2)
		}
		miss("key_1", s.request(), 3)
		s.set(func(c *Settings) { c.EnumerationThreshold = 0 })
		for range 10 {
			s.do(s.request())
		}
		if got := s.metric("vayu_verify_enumeration_alarms_total"); got != 0 {
			t.Errorf("%v alarms without a threshold", got)
		}
	})
}
