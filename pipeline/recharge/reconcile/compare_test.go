package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// agg returns a comparison with the recharges of the default provider.
func agg(s *store) reconcile.Comparison {
	return reconcile.Comparison{DB: s.db, World: schema.Live, Provider: "agg"}
}

// Every status of the file in every state of the store has its kind.
func TestKinds(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newStore(t, db)
		lines := []string{}
		want := []string{}
		for _, c := range []struct {
			ours row
			say  map[string]reconcile.Kind // by what the file says
		}{
			{row{state: "pending"}, map[string]reconcile.Kind{"S": "settle_success", "F": "settle_failed", "P": "", "R": "settle_failed"}},
			{row{state: "success"}, map[string]reconcile.Kind{"S": "", "F": "claim", "P": "open_there", "R": "refund"}},
			{row{state: "failed"}, map[string]reconcile.Kind{"S": "suspense", "F": "", "P": "open_there", "R": ""}},
			{row{state: "failed", alarm: "late_success"}, map[string]reconcile.Kind{"S": "suspended", "F": "suspense_back", "P": "open_there", "R": "suspense_back"}},
			{row{state: "refunded", refunded: noon}, map[string]reconcile.Kind{"S": "refunded_here", "F": "", "P": "open_there", "R": ""}},
			{row{state: "success", attempt: "-2"}, map[string]reconcile.Kind{"S": ""}},
			{row{state: "pending", amount: 198_99}, map[string]reconcile.Kind{"S": "amount", "F": "amount", "P": "amount", "R": "amount"}},
		} {
			for _, word := range []string{"S", "F", "P", "R"} {
				kind, listed := c.say[word]
				if !listed {
					continue
				}
				lines = append(lines, line(s.add(c.ours)[0]+c.ours.attempt, word))
				if kind != "" {
					want = append(want, fmt.Sprintf("%s at %d", kind, len(lines)+1))
				}
			}
		}
		all, sum := compare(t, agg(s), file(lines...))
		var got []string
		for _, one := range all {
			kind, _, _ := strings.Cut(one, ",")
			got = append(got, kind)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
		if sum.Lines != len(lines) || sum.Left != len(want) || len(sum.Done) != 0 {
			t.Errorf("got %+v, want %d lines and %d left", sum, len(lines), len(want))
		}
		matches := 0
		for status, sums := range sum.Matches {
			matches += sums.Count
			if sums.File != schema.Paise(sums.Count)*199_00 || sums.Ours != sums.File {
				t.Errorf("%s: %+v", status, sums)
			}
		}
		if matches != len(lines)-len(want) {
			t.Errorf("%d lines match, want %d", matches, len(lines)-len(want))
		}
	})
}

// Lines about unknown references, or other providers, have their kinds.
func TestUnmatchedLines(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newStore(t, db)
		redirected := s.add(row{attempt: "-2"}, row{attempt: "-2", provider: "other"}, row{provider: "other"}, row{mode: "sandbox"}, row{}, row{})
		got, sum := compare(t, agg(s), file(
			line(redirected[0], "F"), // the attempt before failed, and is known to have
			line(redirected[0]+"-2", "S"),
			line(redirected[1], "S"),
			line(redirected[2], "S"),
			line(redirected[3], "S"),
			line("SOMEBODY'S", "S"),
			"broken",
			line(redirected[4], "S"),
			line(redirected[5], "S"),
			line(redirected[4], "S"),
		))
		want := []string{
			// Unreadable lines are reported at once, the others in groups.
			"unreadable at 8 the header has 4 columns, and it has 1",
			"earlier at 4, there success 199, here success 199",
			"other_provider at 5, there success 199, here success 199",
			"not_ours at 6, there success 199",
			"not_ours at 7, there success 199",
			"twice at 9, there success 199, here success 199",
			"twice at 11, there success 199, here success 199",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
		wantKinds := map[reconcile.Kind]reconcile.Counts{
			"unreadable": {Count: 1}, "earlier": {1, 199_00, 199_00}, "other_provider": {1, 199_00, 199_00},
			"not_ours": {2, 398_00, 0}, "twice": {2, 398_00, 398_00},
		}
		if diff := cmp.Diff(wantKinds, sum.Kinds); diff != "" || sum.Lines != 10 {
			t.Errorf("kinds of %d lines (-want +got):\n%s", sum.Lines, diff)
		}
	})
}

// Exactly the recharges of an Indian day that the file lacks are reported.
func TestMissingRechargesAreReported(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newStore(t, db)
		in := s.add(row{at: day}, row{at: day.Add(24*time.Hour - time.Microsecond), state: "pending"}, row{attempt: "-2"}, row{})
		s.add(row{at: day.Add(-time.Microsecond)}, row{at: day.Add(24 * time.Hour)}, row{state: "failed"}, row{state: "refunded", refunded: noon},
			row{provider: "other"}, row{mode: "sandbox"})
		c := agg(s)
		c.From, c.To = day, day.Add(24*time.Hour)
		got, sum := compare(t, c, file(line(in[3], "S")))
		want := []string{"absent at 0, here success 199", "absent at 0, here success 199", "absent at 0, here pending 199"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
		if sum.Left != 3 {
			t.Errorf("sum.Left = %d, want 3", sum.Left)
		}
		if got, _ := compare(t, agg(s), file(line(in[3], "S"))); len(got) != 0 {
			t.Errorf("without a range %v are missed", got)
		}
		s.add(slices.Repeat([]row{{}}, 1000)...) // more than one page
		if _, sum := compare(t, c, file(line(in[3], "S"))); sum.Kinds["absent"].Count != 1003 {
			t.Errorf("%d are missed, want 1003", sum.Kinds["absent"].Count)
		}
	})
}

// A refund after the end of the file is no difference.
func TestRefundAfterTheFileIsNoDifference(t *testing.T) {
	t.Parallel()
	s := newStore(t, sqlstoretest.SQLite(t))
	end := day.Add(24 * time.Hour)
	ids := s.add(row{state: "refunded", refunded: end.Add(-1)}, row{state: "refunded", refunded: end})
	c := agg(s)
	c.From, c.To = day, end
	got, _ := compare(t, c, file(line(ids[0], "S"), line(ids[1], "S")))
	if diff := cmp.Diff([]string{"refunded_here at 2, there success 199, here refunded 199"}, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

// scripted is a settler with scripted results.
type scripted struct {
	mu    sync.Mutex
	calls []string
	do    func(reference string, a order.Answer) (record.Record, error)
}

// Settle implements reconcile.Settler.
func (s *scripted) Settle(_ context.Context, world schema.World, provider, reference string, a order.Answer, by string) (record.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf("%s %s %s %d %s %s %s %s", world, provider, reference, a.Outcome, a.Code, a.ProviderRef, a.Reason, by))
	return s.do(reference, a)
}

// Exactly the automatic kinds are settled. Refused ones, and those that changed meanwhile,
// are left.
func TestAutomaticKindsAreSettled(t *testing.T) {
	t.Parallel()
	s := newStore(t, sqlstoretest.SQLite(t))
	ids := s.add(row{state: "pending"}, row{state: "pending"}, row{}, row{state: "failed"}, row{}, row{state: "pending", amount: 1}, row{state: "pending"}, row{state: "pending"}, row{state: "pending"})
	settler := &scripted{do: func(reference string, a order.Answer) (record.Record, error) {
		switch reference {
		case ids[3]:
			return record.Record{State: schema.RechargeFailed, Alarm: "late_success"}, nil
		case ids[6]:
			return record.Record{State: schema.RechargeFailed}, nil
		case ids[7]:
			return record.Record{}, schema.NewProblem(schema.NotFound, "", "Gone.")
		}
		return record.Record{State: map[order.Outcome]schema.RechargeState{
			order.Succeeded: "success", order.Failed: "failed", order.Reversed: "refunded",
		}[a.Outcome]}, nil
	}}
	c := agg(s)
	c.Settler = settler
	got, sum := compare(t, c, file(line(ids[0], "S"), line(ids[1], "F"), line(ids[2], "R"), line(ids[3], "S"), line(ids[4], "F"), line(ids[5], "S"),
		line(ids[6], "S"), line(ids[7], "S"), line(ids[8], "S"), line(ids[8], "S")))
	want := []string{
		"settle_success at 2, there success 199, here pending 199, now success , done true",
		"settle_failed at 3, there failed 199, here pending 199, now failed , done true",
		"refund at 4, there refunded 199, here success 199, now refunded , done true",
		"suspense at 5, there success 199, here failed 199, now failed late_success, done true",
		"claim at 6, there failed 199, here success 199",
		"amount at 7, there success 199, here pending 0.01",
		"settle_success at 8, there success 199, here pending 199, now failed , done false",
		"settle_success at 9, there success 199, here pending 199, now pending Gone., done false",
		"twice at 10, there success 199, here pending 199",
		"twice at 11, there success 199, here pending 199",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	slices.Sort(settler.calls)
	wantCalls := []string{
		"live agg " + ids[0] + " 1  op-1  reconcile",
		"live agg " + ids[1] + " 2 operator_network_error op-1  reconcile",
		"live agg " + ids[2] + " 5  op-1  reconcile",
		"live agg " + ids[3] + " 1  op-1  reconcile",
		"live agg " + ids[6] + " 1  op-1  reconcile",
		"live agg " + ids[7] + " 1  op-1  reconcile",
	}
	if diff := cmp.Diff(wantCalls, settler.calls); diff != "" {
		t.Errorf("settled (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[reconcile.Kind]int{"settle_success": 1, "settle_failed": 1, "refund": 1, "suspense": 1}, sum.Done); diff != "" || sum.Left != 7 {
		t.Errorf("%d left, done (-want +got):\n%s", sum.Left, diff)
	}
}

// A failing store ends the comparison, and the summary has what was done before.
func TestStoreFailureEndsTheComparison(t *testing.T) {
	t.Parallel()
	s := newStore(t, sqlstoretest.SQLite(t))
	ids := s.add(slices.Repeat([]row{{state: "pending"}}, 300)...)
	away := schema.Unavailable("Away.", errors.New("disk full"))
	settler := &scripted{do: func(reference string, _ order.Answer) (record.Record, error) {
		if reference >= ids[200] {
			return record.Record{}, away
		}
		return record.Record{State: schema.RechargeSuccess}, nil
	}}
	lines := make([]string, len(ids))
	for i, id := range ids {
		lines[i] = line(id, "S")
	}
	c := agg(s)
	c.Settler = settler
	reports := 0
	sum, err := c.Run(t.Context(), file(lines...), func(reconcile.Difference) error { reports++; return nil })
	switch {
	case !errors.Is(err, away):
		t.Errorf("got error %v, want %v", err, away)
	case sum.Done["settle_success"] != 200:
		t.Errorf("sum.Done[\"settle_success\"] = %v, want 200", sum.Done["settle_success"])
	case reports != 256:
		t.Errorf("reports = %v, want 256", reports)
	case sum.Left != 56:
		t.Errorf("sum.Left = %v, want 56", sum.Left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Run(ctx, file(lines...), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted it ended with %v", err)
	}
	if _, err := c.Run(t.Context(), strings.NewReader("a,b\n"), nil); err == nil {
		t.Error("a file without a header was compared")
	}
}
