package reconcile_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/recharge/reconcile"
	"vayu/schema"
)

// listed returns the list of some worlds at a time: ids with their reasons.
func listed(tb testing.TB, db *sqlstore.DB, now time.Time, worlds ...schema.World) []string {
	tb.Helper()
	var all []string
	err := reconcile.List(tb.Context(), db, worlds, now, func(e reconcile.Entry) error {
		all = append(all, e.ID+" "+e.Owner.World.String()+" "+e.Why)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestList(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newStore(t, db)
		old := noon.Add(-reconcile.MaxPending)
		ids := s.add(
			row{state: "pending", at: old}, row{state: "pending", at: old.Add(-time.Hour), mode: "sandbox"},
			row{state: "pending", at: old.Add(time.Microsecond)}, row{at: old}, row{state: "failed", at: old},
			row{state: "failed", alarm: "late_success"}, row{alarm: "late_failure"}, row{state: "failed", alarm: "late_success", mode: "sandbox"},
			row{alarm: "late_failure", resolved: noon},
		)
		live := []string{ids[0] + " live pending", ids[6] + " live late_failure", ids[5] + " live late_success"}
		if diff := cmp.Diff(live, listed(t, db, noon, schema.Live)); diff != "" {
			t.Errorf("live (-want +got):\n%s", diff)
		}
		both := []string{
			ids[0] + " live pending", ids[1] + " sandbox pending",
			ids[6] + " live late_failure", ids[5] + " live late_success", ids[7] + " sandbox late_success",
		}
		if diff := cmp.Diff(both, listed(t, db, noon, schema.Worlds[:]...)); diff != "" {
			t.Errorf("both worlds (-want +got):\n%s", diff)
		}
		if got := listed(t, db, noon); got != nil {
			t.Errorf("no world has %v", got)
		}
	})
}

// A list of several pages has every entry once, also for several accounts.
func TestLongListsAreComplete(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		want := map[string]bool{}
		one := newStore(t, db)
		two := &store{TB: t, Tenant: accesstest.AddTenant(t, db, "second"), db: db, made: 10_000}
		for _, s := range []*store{one, two} {
			for _, r := range []row{{state: "pending", at: day.Add(-48 * time.Hour)}, {state: "pending", at: day.Add(-48 * time.Hour), mode: "sandbox"}, {alarm: "late_failure"}} {
				for _, id := range s.add(slices.Repeat([]row{r}, 600)...) {
					want[id] = true
				}
			}
		}
		all := listed(t, db, noon, schema.Worlds[:]...)
		for _, one := range all {
			delete(want, one[:30])
		}
		if len(all) != 3600 || len(want) != 0 {
			t.Errorf("the list has %d, and lacks %d of 3600", len(all), len(want))
		}
		n := 0
		err := reconcile.List(t.Context(), db, schema.Worlds[:], noon, func(reconcile.Entry) error {
			if n++; n == 3000 { // among the alarms
				return errDisk
			}
			return nil
		})
		if n != 3000 || !errors.Is(err, errDisk) {
			t.Errorf("the list went on after an error: %d, %v", n, err)
		}
	})
}

func TestProviders(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newStore(t, db)
		s.add(row{}, row{}, row{provider: "zed"}, row{provider: "sandbox", mode: "sandbox"})
		for w, want := range map[schema.World][]string{schema.Live: {"agg", "zed"}, schema.Sandbox: {"sandbox"}} {
			got, err := reconcile.Providers(db.View(t.Context()), w)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v, (-want +got):\n%s", w, err, diff)
			}
		}
	})
}
