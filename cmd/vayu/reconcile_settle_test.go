package main

import (
	"fmt"
	"strings"
	"testing"

	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// orderWithAlarm makes a recharge in a state that its operator then contradicts.
func (s *reconcileFixture) orderWithAlarm(was schema.RechargeState, reported order.Outcome) string {
	s.Helper()
	id := s.order(was)
	if r, err := s.recharges.Settle(s.Context(), schema.Live, "agg", id, order.Answer{Outcome: reported}, "test"); err != nil || r.Alarm == "" {
		s.Fatalf("got %+v, %v, want an alarm", r, err)
	}
	return id
}

// wantOutput runs a command, and checks that its output or error contains want.
func (s *reconcileFixture) wantOutput(want string, args ...string) {
	s.Helper()
	out, err := s.reconcile(args...)
	if err != nil {
		out += userMessage(err)
	}
	if !strings.Contains(out, want) {
		s.Errorf("%v: got %s, want %s", args, out, want)
	}
}

// noted counts the audit rows of an action on a recharge with a note.
func (s *reconcileFixture) noted(action, id, note string) int {
	s.Helper()
	return s.count("audit WHERE actor = 'command' AND action = $1 AND subject = $2 AND detail LIKE $3", action, id, "%"+note+"%")
}

// A resolved alarm is removed from the list and from comparisons.
func TestAnAlarmIsResolved(t *testing.T) {
	t.Parallel()
	eachReconcileFixture(t, func(s *reconcileFixture) {
		late, wrong, fine := s.orderWithAlarm("failed", order.Succeeded), s.orderWithAlarm("success", order.Failed), s.order("success")
		file := fmt.Sprintf("ref,status,amount\n%s,S,100\n%s,F,100\n", late, wrong)
		s.wantPrinted([]string{"claim it back, or charge the account by agreement; then vayu reconcile resolve"}, file, "--provider", "agg")
		s.wantOutput(`required flag(s) "note"`, "resolve", late)
		s.wantOutput("--note: A note has 1 to 255 printable characters.", "resolve", late, "--note", "")
		s.wantOutput("There is no such recharge.", "resolve", "txn_none", "--note", "x")
		s.wantOutput("recharge "+fine+" has no alarm; it is success", "resolve", fine, "--note", "x")
		s.wantOutput(late+"  ₹100, failed; late_success resolved\n", "resolve", late, "--note", "credited on the 3rd")
		s.wantOutput("is resolved already, since 20", "resolve", late, "--note", "twice")
		for note, want := range map[string]int{"credited on the 3rd": 1, "twice": 0} {
			if n := s.noted("recharge.resolved", late, note); n != want {
				s.Errorf("the audit log has the note %q %d times, want %d", note, n, want)
			}
		}
		s.wantPrinted([]string{wrong, "\n1 recharge to look at"})
		s.wantOutput("resolved\n", "resolve", wrong, "--note", "it was carried out")
		if out, err := s.reconcile(); err != nil || out != "no recharge to look at\n" {
			s.Errorf("the list: %v: %s", err, out)
		}
		out, err := s.reconcile(file, "--provider", "agg", "--apply")
		if err != nil || !strings.HasSuffix(out, "\neverything matches; not counted: 2 recharges whose alarm was resolved\n") {
			s.Errorf("the file: %v: %s", err, out)
		}
		out, err = s.reconcile(file, "--provider", "agg", "--json")
		if err != nil {
			s.Errorf("the file: %v: %s", err, out)
		}
		if _, sum := s.differencesIn(out); sum["left"] != 0.0 || sum["resolved"].(map[string]any)["count"] != 2.0 {
			s.Errorf("the file: got the summary %v, want none left and two resolved", sum)
		}
		s.wantBooks(800_00, 0)
	})
}

// A manual settlement moves money once, as a callback does.
func TestARechargeIsSettledByHand(t *testing.T) {
	t.Parallel()
	eachReconcileFixture(t, func(s *reconcileFixture) {
		for _, c := range []struct {
			was  schema.RechargeState
			flag string
			want string
		}{
			{"pending", "--succeeded", "success"}, {"pending", "--failed", "failed"}, {"pending", "--reversed", "failed"}, {"success", "--reversed", "refunded"},
		} {
			id := s.order(c.was)
			events := s.count("event")
			s.wantOutput(id+"  ₹100, "+c.want+"\n", "settle", id, c.flag, "--note", "confirmed")
			for action, note := range map[string]string{"recharge.settle": "confirmed", "recharge." + c.want: ""} {
				if n := s.noted(action, id, note); n != 1 {
					s.Errorf("%s %s: the audit log has %d rows of %s, want 1", c.was, c.flag, n, action)
				}
			}
			if n := s.count("event"); n != events+1 {
				s.Errorf("%s %s: there are %d new events, want 1", c.was, c.flag, n-events)
			}
			s.wantOutput("recharge "+id+" is "+c.want+" already, and ", "settle", id, "--failed", "--note", "again")
			if s.noted("recharge.settle", id, "again") != 0 {
				s.Errorf("%s %s: a refused command is in the audit log", c.was, c.flag)
			}
		}
		s.wantBooks(900_00, 0)
		id := s.order("pending")
		s.wantOutput("set --succeeded, --failed or --reversed", "settle", id, "--note", "x")
		s.wantOutput("set --succeeded, --failed or --reversed", "settle", id, "--failed", "--reversed", "--note", "x")
		s.wantOutput(`required flag(s) "note"`, "settle", id, "--failed")
		s.wantOutput("--note: A note has 1 to 255 printable characters.", "settle", id, "--failed", "--note", "a\tb")
		s.wantOutput("There is no such recharge.", "settle", "txn_1'", "--failed", "--note", "x")
		s.wantBooks(800_00, 100_00)
	})
}

// The reason for an alarm is valid in every state that the recharge can reach.
func TestListedReasonIsValidInEveryState(t *testing.T) {
	t.Parallel()
	eachReconcileFixture(t, func(s *reconcileFixture) {
		// It succeeded, its operator reported a failure, and then reversed it.
		id := s.orderWithAlarm("success", order.Failed)
		if _, err := s.recharges.Settle(s.Context(), schema.Live, "agg", id, order.Answer{Outcome: order.Reversed}, "test"); err != nil {
			s.Fatal(err)
		}
		s.wantPrinted([]string{" refunded  0m   the provider has reported failed after success\n"})
	})
}
