package reconcile

import (
	"testing"

	"vayu/pipeline/recharge/reconcile"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/schema"
)

// The reason for an alarm is valid in every state that the recharge can reach.
func TestReasonIsValidInEveryState(t *testing.T) {
	t.Parallel()
	for why, want := range map[string]string{
		"pending": "pending for more than a day", settle.AlarmLateFailure: "the provider has reported failed after success",
		settle.AlarmLateSuccess: "the provider has reported success of an order that had failed",
	} {
		for _, in := range []schema.RechargeState{"pending", "success", "failed", "refunded"} {
			if got := whyText(why, in); got != want {
				t.Errorf("%s of one that is %s: %s, want %s", why, in, got, want)
			}
		}
	}
}

func whyText(of string, in schema.RechargeState) string {
	return why(&reconcile.Entry{Record: record.Record{State: in}, Why: of})
}
