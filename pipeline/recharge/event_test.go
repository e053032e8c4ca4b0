package recharge

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/state"
	"vayu/schema"
)

// What cannot be a number says what one is, and which field has it: to whoever asked,
// and in the event.
func TestWhatIsNoNumberIsExplained(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		for _, c := range []struct {
			kind  schema.RechargeType
			asked string
			want  schema.Problem
		}{
			{schema.Prepaid, "Airtel", schema.Problem{
				Code: schema.InvalidNumber, Field: "mobile",
				Message: "This is no mobile number of India: it has ten digits, of which the first is 6 to 9. Nothing was charged.",
			}},
			{schema.DTH, "Tata Play", schema.Problem{
				Code: schema.InvalidNumber, Field: "subscriber_id", Message: "This is no id of a DTH subscriber: it has 8 to 12 digits. Nothing was charged.",
			}},
		} {
			q := s.request()
			q.Type, q.Asked, q.Number, q.Valid = c.kind, c.asked, "12", false
			r := s.do(q)
			if diff := cmp.Diff(&c.want, shown(&r).Error); diff != "" || r.ErrorMessage != c.want.Message {
				t.Errorf("%s is shown (-want +got):\n%s", c.kind, diff)
			}
			told := s.newest()
			if diff := cmp.Diff(&c.want, told.Error); diff != "" {
				t.Errorf("%s is told (-want +got):\n%s", c.kind, diff)
			}
		}
	})
}

// newest is the data of the newest event.
func (s *stage) newest() schema.RechargeEvent {
	s.t.Helper()
	envelope, err := state.All(s.DB.View(s.t.Context()), scanText, "SELECT envelope FROM event WHERE account_id = $1 ORDER BY id DESC LIMIT 1", s.owner.Account)
	if err != nil || len(envelope) != 1 {
		s.t.Fatalf("there are %d events, %v", len(envelope), err)
	}
	var event struct{ Data schema.RechargeEvent }
	if err := json.Unmarshal([]byte(envelope[0]), &event); err != nil {
		s.t.Fatal(err)
	}
	return event.Data
}
