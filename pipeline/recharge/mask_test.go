package recharge

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

const day = 24 * time.Hour

// mask runs one sweep and checks the number of masked rows.
func (s *serviceFixture) mask(want int) {
	s.t.Helper()
	if n, err := s.MaskNumbers(s.t.Context()); err != nil || n != want {
		s.t.Fatalf("got %d masked, %v; want %d", n, err, want)
	}
}

func TestSettledRechargesAreMasked(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		done := s.do(s.request())
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Failed}) })
		failed := s.do(s.request())
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending}) })
		pending := s.do(s.request())

		s.clock.Advance(180 * day)
		s.mask(0)
		s.clock.Advance(time.Second)
		s.mask(2)
		s.mask(0)
		for _, r := range []record.Record{done, failed} {
			if got := s.find(r.ID); got.Number != "XXXXXX2345" || len(got.Digest) != 32 {
				t.Errorf("the %s one: got %q, %x; want it masked", r.State, got.Number, got.Digest)
			}
		}
		if got := s.find(pending.ID); got.Number != "9810012345" || got.Digest != nil {
			t.Errorf("the pending one: got %q, %x; want it in clear", got.Number, got.Digest)
		}
		if a, b := s.find(done.ID), s.find(failed.ID); bytes.Equal(a.Digest, b.Digest) {
			t.Error("two recharges of one number have the same digest")
		}
		if got := record.Reply(new(s.find(done.ID))); got.Mobile != "XXXXXX2345" || strings.Contains(got.Message, "981001") {
			t.Errorf("the reply has %q and %q", got.Mobile, got.Message)
		}
		if got := fixture.MetricValue(t, s.reg, "vayu_recharge_masked_total"); got != 2 {
			t.Errorf("the counter: got %v, want 2", got)
		}
	})
}

// An open recharge or alarm needs the number.
func TestOpenRechargesAreNotMasked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open, closed string // assignments
	}{
		"refund under way":    {"due_at = 1, refund_id = 'rfd_1'", "due_at = NULL"},
		"alarm not resolved":  {"alarm = 'late_failure'", "resolved_at = 1"},
		"refunded lately":     {"refunded_at = $2", "refunded_at = 1"},
		"alarm just resolved": {"alarm = 'late_success', resolved_at = $2", "resolved_at = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
				r := s.reach(schema.RechargeSuccess)
				s.clock.Advance(200 * day)
				lately := []any{r.ID}
				if strings.Contains(c.open, "$2") {
					lately = append(lately, s.clock.Now().Add(-day).UnixMicro())
				}
				sqlstoretest.Exec(t, s.DB, "UPDATE recharge SET "+c.open+" WHERE id = $1", lately...)
				s.mask(0)
				sqlstoretest.Exec(t, s.DB, "UPDATE recharge SET "+c.closed+" WHERE id = $1", r.ID)
				s.mask(1)
				// The ledger has no entries for these two changes.
				sqlstoretest.Exec(t, s.DB, "UPDATE recharge SET alarm = '', refund_id = '', refunded_at = NULL WHERE id = $1", r.ID)
			})
		})
	}
}

// Events of every state have a masked number. A subscription with permission gets the
// clear one.
func TestEventsHaveMaskedNumbers(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending}) })
		r := s.do(s.request())
		for _, step := range []order.Answer{{Outcome: order.Pending}, {Outcome: order.Succeeded}, {Outcome: order.Reversed}} {
			s.sendResult(r, step)
			if got := s.newest(); got.Mobile != "XXXXXX2345" {
				t.Errorf("after %s: got %q, want it masked", step.Outcome, got.Mobile)
			}
		}
		number := func(o schema.Owner, id, want string) {
			t.Helper()
			if got, err := s.ClearNumber(t.Context(), o, id); err != nil || got != want {
				t.Errorf("the number of %s: got %q, %v; want %q", id, got, err, want)
			}
		}
		number(s.owner, r.ID, "9810012345")
		number(s.tenant.In(schema.Sandbox), r.ID, "")
		number(s.owner, "txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "")
		s.clock.Advance(181 * day)
		s.mask(1)
		number(s.owner, r.ID, "")
	})
}

func TestReplayAfterMasking(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.request()
		made := s.do(r)
		s.clock.Advance(181 * day)
		s.mask(1)
		again, replayed, err := s.Do(t.Context(), r, 0)
		if err != nil || !replayed || again.ID != made.ID {
			t.Errorf("got %+v, %v, %v; want a replay", again, replayed, err)
		}
		for _, number := range []string{"9710012345", "XXXXXX2345"} { // of the same last digits
			other := r
			other.Number = number
			_, _, err := s.Do(t.Context(), other, 0)
			accesstest.WantProblem(t, err, schema.DuplicateRefID, "ref_id")
		}
	})
}

func TestMaskedRechargeCannotBeRefunded(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargeSuccess)
		s.clock.Advance(181 * day)
		s.mask(1)
		s.fake.calls()
		_, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "too late", By: by})
		accesstest.WantProblem(t, err, schema.InvalidRequest, "id")
		// The mobile number was masked between the query and the change.
		if _, wanted, err := s.requestRefund(t.Context(), &r, RefundRequest{By: by}, s.Queue.NewLease(s.connections[0].Pool)); wanted || !errors.Is(err, errMasked) {
			t.Errorf("got %v, %v; want %v", wanted, err, errMasked)
		}
		if got := s.fake.calls(); len(got) > 0 {
			t.Errorf("the operator was called: %v", got)
		}
	})
}

// A sweep is one short transaction, and uses its index.
func TestMaskingSweepIsBounded(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		for i := range maskBatchSize + 3 {
			id := "txn_old" + strconv.Itoa(i)
			sqlstoretest.Exec(t, s.DB, `INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider,
					reference, provider_ref, sent, tries, told_pending, error_code, error_message, alarm, refund_id, refund_reason, batch_id, batch_index, created_at,
					finished_at, token)
				VALUES ($1, $2, 'live', $1, 'failed', 'prepaid', '9876543210', '', '', '', '', 100, '', '', '', 0, 0, 0, 'invalid_number', '', '', '', '', '', 0, 0, $3, '')`,
				id, s.owner.Account, i)
		}
		s.mask(maskBatchSize)
		s.mask(3)
		s.mask(0)
		sqlstoretest.Exec(t, s.DB, "ANALYZE")
		if plan := sqlstoretest.Plan(t, s.DB, selectClear, 1, maskBatchSize); !strings.Contains(plan, "recharge_clear") {
			t.Errorf("the sweep does not use the index recharge_clear:\n%s", plan)
		}
	})
}

func TestMaskingSettings(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]int{0: 0, day: 0, day - 1: 1, -1: 1} {
		if faults := (Settings{BatchRoom: 1, MaskAfter: after}).Validate(); len(faults) != want {
			t.Errorf("%s: got %v, want %d faults", after, faults, want)
		}
	}
	if faults := DefaultSettings().Validate(); len(faults) > 0 {
		t.Errorf("the defaults: %v", faults)
	}
}
