package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/reconcile"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

// A resolved difference is not reported again, unless it is another one.
func TestResolvedDifferencesAreNotReported(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newStore(t, db)
		late := row{state: "failed", alarm: "late_success", resolved: noon}
		wrong := row{alarm: "late_failure", resolved: noon}
		var lines, want []string
		resolved := 0
		for _, c := range []struct {
			ours      row
			say, kind string // "" for nothing that is left
			reference string // behind the id, where it is another than ours
		}{
			{ours: late, say: "S"}, {ours: late, say: "F"}, {ours: late, say: "P", kind: "open_there"},
			{ours: wrong, say: "F"}, {ours: wrong, say: "R", kind: "refund"},
			{ours: row{alarm: "late_failure", resolved: noon, state: "refunded", refunded: noon}, say: "S"},
			{ours: row{alarm: "late_failure", resolved: noon, state: "refunded", refunded: noon.Add(1000)}, say: "S", kind: "refunded_here"},
			{ours: row{alarm: "late_success", resolved: noon, attempt: "-2"}, say: "S", reference: "first"},
			// The alarm may be of either order.
			{ours: row{alarm: "late_success", resolved: noon, state: "failed", attempt: "-2"}, say: "S", kind: "suspended"},
			{ours: row{alarm: "late_success", resolved: noon, state: "failed", attempt: "-2"}, say: "S", reference: "first", kind: "earlier"},
		} {
			reference := s.add(c.ours)[0]
			if c.reference == "" {
				reference += c.ours.attempt
			}
			lines = append(lines, line(reference, c.say))
			if c.kind == "" {
				resolved++
				continue
			}
			want = append(want, fmt.Sprintf("%s at %d", c.kind, len(lines)+1))
		}
		s.add(row{alarm: "late_failure", resolved: noon, at: noon}) // and not in the file
		c := agg(s)
		c.From, c.To = day, day.Add(24*time.Hour)
		all, sum := compare(t, c, file(lines...))
		var got []string
		for _, one := range all {
			kind, _, _ := strings.Cut(one, ",")
			got = append(got, kind)
		}
		// The differences of the two second orders, which the file does not mention.
		got = slices.DeleteFunc(got, func(kind string) bool { return kind == "absent at 0" })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
		if sum.Resolved.Count != resolved+1 || sum.Resolved.Ours != schema.Paise(resolved+1)*199_00 {
			t.Errorf("got %+v, want %d that are resolved", sum.Resolved, resolved+1)
		}
	})
}

// A manual result that does not apply is rejected, and a concurrent change is reported.
func TestManualResultMayNotApply(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newStore(t, db)
		ids := s.add(row{state: "pending"}, row{}, row{state: "failed"}, row{state: "refunded", refunded: noon})
		away := errors.New("the disk is full")
		settler := &scripted{do: func(string, order.Answer) (record.Record, error) { return record.Record{}, away }}
		settle := func(id string, outcome order.Outcome) error {
			_, err := reconcile.SettleManually(t.Context(), db, settler, noon, outcome, reconcile.Resolution{ID: id, Note: "x", By: "command"})
			return err
		}
		if err := settle(ids[0], order.Failed); !errors.Is(err, away) {
			t.Errorf("a store that fails: %v", err)
		}
		settler.do = func(string, order.Answer) (record.Record, error) {
			return record.Record{State: schema.RechargeSuccess}, nil
		}
		if err := settle(ids[0], order.Failed); err == nil || !strings.Contains(err.Error(), "it is success: it changed meanwhile") {
			t.Errorf("a callback was faster: %v", err)
		}
		for _, c := range []struct {
			id      string
			outcome order.Outcome
			want    string
		}{
			{ids[0], order.Pending, "not a final outcome"}, {ids[0], order.Unknown, "not a final outcome"},
			{ids[1], order.Succeeded, "can only be reversed"}, {ids[1], order.Failed, "can only be reversed"},
			{ids[2], order.Succeeded, "is failed already"}, {ids[3], order.Reversed, "is refunded already"},
		} {
			t.Run(fmt.Sprint(c.outcome, " ", c.want), func(t *testing.T) {
				if err := settle(c.id, c.outcome); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
			})
		}
		wantCalls := slices.Repeat([]string{"live agg " + ids[0] + " 2 operator_network_error   command"}, 2)
		if diff := cmp.Diff(wantCalls, settler.calls); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
	})
}

// Of concurrent calls one resolves an alarm.
func TestConcurrentResolve(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		id := newStore(t, db).add(row{alarm: "late_failure"})[0]
		failed := make(chan error, 8)
		for range cap(failed) {
			go func() {
				_, err := reconcile.Resolve(t.Context(), db, noon, reconcile.Resolution{ID: id, Note: "x", By: "command"})
				failed <- err
			}()
		}
		done := 0
		for range cap(failed) {
			if err := <-failed; err == nil {
				done++
			} else if !strings.Contains(err.Error(), "is resolved already, since "+noon.Format(time.RFC3339)) {
				t.Error(err)
			}
		}
		if done != 1 {
			t.Errorf("%d have resolved it", done)
		}
	})
}
