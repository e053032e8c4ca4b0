package verify

import (
	"testing"
	"time"

	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// Every pending verification ends, even if it cannot be decrypted or if its bank is no longer
// configured.
func TestStrandedVerificationsEnd(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]string{
		"unreadable": "UPDATE verification SET private = 'x'", "not configured": "UPDATE verification SET provider = 'gone', token = 'dead'",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
				r := s.do(s.request())
				s.exec(change)
				s.advance(time.Hour)
				s.checkUnconfigured(t.Context())
				if got := s.record(r.ID); got.State != schema.VerificationPending {
					t.Errorf("after an hour it is %s", got.State)
				}
				s.advance(30 * 24 * time.Hour)
				s.checkUnconfigured(t.Context())
				if got := s.record(r.ID); got.State != schema.VerificationFailed || len(s.events()) != 1 {
					t.Errorf("a month later it is %s, events %q", got.State, s.events())
				}
			})
		})
	}
}

// An undecryptable verification fails as missing if the bank answers so.
func TestUndecryptableVerificationMayBeMissing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
		r := s.do(s.request())
		s.exec("UPDATE verification SET private = 'x'")
		got, err := s.Settle(t.Context(), schema.Live, "puppet", r.ID, bank.Answer{Outcome: bank.NotFound}, "test")
		if err != nil || got.State != schema.VerificationFailed || got.ErrorCode != schema.AccountNotFound {
			t.Errorf("got %s %s, %v", got.State, got.ErrorCode, err)
		}
	})
}

// Rows of a batch remain as long as the batch shows them, even beyond the retention of single
// verifications.
func TestBatchResultsKeepTheirRows(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.set(func(c *Settings) { c.Retention, c.GiveUp = 48*time.Hour, 7*24*time.Hour })
		s.addBatch("bat_1", 2)
		q := s.request()
		q.Item = &transaction.BatchItem{Batch: "bat_1", Index: 0}
		s.do(q)
		s.clock.Advance(7*24*time.Hour - time.Minute) // the other record found the bank away
		s.bank.set(func() {
			s.bank.deposit, s.bank.enquire = answers(bank.Answer{Outcome: bank.Pending}), answers(bank.Answer{Outcome: bank.Pending})
		})
		q = s.request()
		q.Item = &transaction.BatchItem{Batch: "bat_1", Index: 1}
		s.do(q)
		s.advance(7*24*time.Hour + time.Minute) // it is given up
		if got := s.texts("SELECT state FROM batch"); got[0] != "completed" {
			t.Fatal(got)
		}
		s.clock.Advance(2 * 24 * time.Hour) // of the seven that results are kept
		s.deleteOld(t.Context())
		shown, err := show(s.DB.View(t.Context()), s.owner, "bat_1", 0, 2)
		if err != nil || len(shown) != 2 {
			t.Errorf("two days after the batch was completed %d of its records are shown, %v", len(shown), err)
		}
	})
}

// A panic while recording an outcome is an error of that verification only. It is enquired
// again.
func TestPanicIsContained(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		events := s.Events
		s.Events = nil
		r := s.do(s.request())
		s.Events = events
		if got := s.metric("vayu_verify_store_failures_total", "doing", "record"); got != 1 || s.record(r.ID).State != schema.VerificationPending {
			t.Errorf("%v failures are counted, it is %s", got, s.record(r.ID).State)
		}
		s.advance(time.Hour)
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}
