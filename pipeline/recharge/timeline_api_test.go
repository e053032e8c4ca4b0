package recharge_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/transaction"
	"vayu/schema"
)

// In the sandbox the number determines the timeline.
func TestSandboxTimelines(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		want := map[string][]string{
			"9000000001": {"created recorded", "submit succeeded", "settled success"},
			"9000000002": {"created recorded", "submit pending", "enquire succeeded", "settled success"},
			"9000000003": {"created recorded", "submit pending", "enquire failed", "settled failed"},
			"9000000007": {"created recorded", "submit pending"},
		}
		ids := map[string]string{}
		for number := range want {
			ids[number] = d.sandboxRequest("POST", "/v1/recharge", orderFor(number, number, "20")).TextAt("transaction_id")
		}
		for number, want := range want {
			var got schema.RechargeDetail
			until(t, func() bool {
				got = read[schema.RechargeDetail](t, d.sandboxRequest("GET", "/v1/recharge/"+ids[number]+"?view=detail", ""), 200)
				return got.Status != schema.RechargePending || number == "9000000007"
			})
			var steps []string
			for _, s := range got.Steps {
				if s.Act != schema.ActEnquire || s.Answer != schema.AnswerPending { // how many of these there are is up to the machine
					steps = append(steps, fmt.Sprint(s.Act, " ", s.Answer))
				}
			}
			if diff := cmp.Diff(want, steps); diff != "" {
				t.Errorf("%s (-want +got):\n%s", number, diff)
			}
			stored, err := transaction.Steps(d.DB.View(t.Context()), ids[number])
			if err != nil || number == "9000000001" && len(stored) != 0 {
				t.Errorf("%s has the steps %v, %v", number, stored, err)
			}
		}
	})
}
