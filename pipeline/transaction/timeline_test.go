package transaction

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/workqueue"
	"vayu/schema"
)

// wantNoScan checks that a plan scans no table.
func wantNoScan(t *testing.T, plan, text string) {
	t.Helper()
	if strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "SCAN upstream_step") {
		t.Errorf("%s reads all there is:\n%s", text, plan)
	}
}

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func step(seconds int, act schema.StepAct, answer schema.StepAnswer) Step {
	return Step{Act: act, Answer: answer, First: after(seconds), Last: after(seconds), Times: 1}
}

// A timeline combines the row with the stored steps.
func TestTimelineIsInOrder(t *testing.T) {
	t.Parallel()
	submit, enquire := schema.ActSubmit, schema.ActEnquire
	begun := Summary{Created: noon, Sent: after(1), Act: submit}
	won := begun
	won.Answer, won.Finished, won.Outcome = schema.AnswerSucceeded, after(9), schema.AnswerSuccess
	back := won
	back.Refunded = after(20)
	underWay := begun
	underWay.Sent = after(1).Add(workqueue.LeaseMargin)
	overtaken := won
	overtaken.Sent = after(1).Add(workqueue.LeaseMargin)
	for name, c := range map[string]struct {
		outline Summary
		steps   []Step
		want    string
	}{
		"no call":                  {Summary{Created: noon}, nil, "0 created recorded"},
		"rejected at once":         {Summary{Created: noon, Finished: noon, Outcome: schema.AnswerFailed}, nil, "0 created recorded, 0 settled failed"},
		"answered at once":         {won, nil, "0 created recorded, 1 submit succeeded, 9 settled success"},
		"in flight":                {underWay, nil, "0 created recorded, 1 submit unanswered"},
		"pending":                  {begun, []Step{step(2, submit, "pending"), step(3, enquire, "no_answer")}, "0 created recorded, 2 submit pending, 3 enquire no_answer"},
		"after a kill":             {begun, []Step{step(3, enquire, "pending")}, "0 created recorded, 1 submit unanswered, 3 enquire pending"},
		"after an enquiry":         {won, []Step{step(2, submit, "pending"), step(9, enquire, "succeeded")}, "0 created recorded, 2 submit pending, 9 enquire succeeded, 9 settled success"},
		"callback during the call": {overtaken, []Step{step(9, "callback", "succeeded")}, "0 created recorded, 1 submit unanswered, 9 callback succeeded, 9 settled success"},
		"postponed before":         {won, []Step{step(1, submit, "not_asked")}, "0 created recorded, 1 submit not_asked, 1 submit succeeded, 9 settled success"},
		"contradicted":             {won, []Step{step(10, "file", "late_failure")}, "0 created recorded, 1 submit succeeded, 9 settled success, 10 file late_failure"},
		"reversed":                 {back, []Step{step(15, "reverse", "no_answer"), step(20, enquire, "reversed"), step(30, "callback", "stray")}, "0 created recorded, 1 submit succeeded, 9 settled success, 15 reverse no_answer, 20 enquire reversed, 20 settled refunded, 30 callback stray"},
		"reversed at once":         {back, nil, "0 created recorded, 1 submit succeeded, 9 settled success, 20 settled refunded"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range Timeline(&c.outline, c.steps) {
				at, err := time.Parse(time.RFC3339Nano, s.At)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(at.Sub(noon).Seconds(), " ", s.Act, " ", s.Answer))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
