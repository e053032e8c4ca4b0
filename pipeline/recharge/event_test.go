package recharge

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// The error of an invalid number describes the format and names the field, in the reply
// and in the event.
func TestInvalidNumberIsExplained(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		for _, c := range []struct {
			kind     schema.RechargeType
			operator string
			want     schema.Problem
		}{
			{schema.Prepaid, "Airtel", schema.Problem{
				Code: schema.InvalidNumber, Field: "mobile",
				Message: "The mobile must be an Indian number of ten digits, of which the first is 6 to 9. Nothing was charged.",
			}},
			{schema.DTH, "Tata Play", schema.Problem{
				Code: schema.InvalidNumber, Field: "subscriber_id", Message: "The subscriber_id must have 8 to 12 digits. Nothing was charged.",
			}},
		} {
			q := s.request()
			q.Type, q.RequestedOperator, q.Number, q.Valid = c.kind, c.operator, "12", false
			r := s.do(q)
			if diff := cmp.Diff(&c.want, record.Reply(&r).Error); diff != "" || r.ErrorMessage != c.want.Message {
				t.Errorf("%s is shown (-want +got):\n%s", c.kind, diff)
			}
			event := s.newest()
			if diff := cmp.Diff(&c.want, event.Error); diff != "" {
				t.Errorf("%s has the event (-want +got):\n%s", c.kind, diff)
			}
		}
	})
}

// The ref_id of a failed recharge is used, so that the same request can never succeed.
func TestFailureIsNotRetryable(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		for _, code := range []schema.Code{schema.OperatorNetworkError, schema.OperatorUnavailable} {
			s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Failed, Code: code}) })
			r := s.do(s.request())
			switch p, event := record.Reply(&r).Error, s.newest().Error; {
			case p.Code != code:
				t.Errorf("p.Code = %v, want %v", p.Code, code)
			case p.Retryable:
				t.Error("p.Retryable is true")
			case event.Code != code:
				t.Errorf("event.Code = %v, want %v", event.Code, code)
			case event.Retryable:
				t.Error("event.Retryable is true")
			}
		}
	})
}

// Events of batch items have the id of the batch.
func TestEventsHaveBatchID(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending}) })
		addBatch(t, s.DB, s.owner, 2)
		for i, steps := range [][]order.Answer{{{Outcome: order.Pending}, {Outcome: order.Succeeded}, {Outcome: order.Reversed}}, {{Outcome: order.Failed}}} {
			q := s.request()
			q.Item = &transaction.BatchItem{Batch: "rbt_1", Index: i}
			r := s.do(q)
			for _, step := range steps {
				s.sendResult(r, step)
				if got := s.newest(); got.BatchID != "rbt_1" || got.TransactionID != r.ID {
					t.Errorf("after %s the event is %+v", step.Outcome, got)
				}
			}
		}
		s.do(s.request())
		if got := s.newest(); got.BatchID != "" {
			t.Errorf("the event of a single recharge has the batch %q", got.BatchID)
		}
	})
}

// newest returns the data of the newest event.
func (s *serviceFixture) newest() schema.RechargeEvent {
	s.t.Helper()
	envelope, err := sqlstore.All(s.DB.View(s.t.Context()), scanText, "SELECT envelope FROM event WHERE account_id = $1 ORDER BY id DESC LIMIT 1", s.owner.Account)
	if err != nil || len(envelope) != 1 {
		s.t.Fatalf("there are %d events, %v", len(envelope), err)
	}
	var event struct{ Data schema.RechargeEvent }
	if err := json.Unmarshal([]byte(envelope[0]), &event); err != nil {
		s.t.Fatal(err)
	}
	return event.Data
}
