package batch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// wantDoneOnce checks that each record of a batch was processed exactly once, and that no
// work is left.
func (s *batchFixture) wantDoneOnce(id string, things, refused int) {
	s.t.Helper()
	got := map[string]int{}
	for what, query := range map[string]string{
		"things":  "SELECT COUNT(*) FROM thing WHERE batch_id = $1",
		"places":  "SELECT COUNT(DISTINCT place) FROM thing WHERE batch_id = $1",
		"refused": "SELECT COUNT(*) FROM batch_item WHERE batch_id = $1 AND subject = ''",
		"begun":   "SELECT COUNT(*) FROM batch_item WHERE batch_id = $1 AND subject <> ''",
		"open":    "SELECT COUNT(*) FROM batch_item WHERE batch_id = $1 AND outcome = 'begun'",
		"chunks":  "SELECT COUNT(*) FROM batch_chunk WHERE batch_id = $1",
		"moved":   "SELECT COUNT(*) FROM thing t JOIN batch_item i ON i.subject = t.id WHERE i.batch_id = $1 AND (t.batch_id <> i.batch_id OR t.place <> i.place)",
	} {
		got[what] = sqlstoretest.Value[int](s.t, s.DB, query, id)
	}
	want := map[string]int{"things": things, "places": things, "refused": refused, "begun": things, "open": 0, "chunks": 0, "moved": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", id, diff)
	}
}

// mixed returns n records: of each ten one is rejected, one fails, and one is no object.
func mixed(n int) (array string, want item.Finished, refused int) {
	all := make([]string, n)
	for i := range all {
		switch i % 10 {
		case 1:
			all[i] = fmt.Sprintf(`{"do":"refuse","ref_id":"ref %d"}`, i)
			refused++
		case 2:
			all[i] = `{"do":"fail"}`
			want.Failed++
		case 3:
			all[i] = []string{`"foo"`, "7", "[[]]", "true"}[i/10%4]
			refused++
		default:
			all[i] = fmt.Sprintf("{ \"n\" : %d,\n\"do\":\"well\" }", i)
			want.Successful++
		}
	}
	want.Total = n
	want.Failed += refused
	return "[" + strings.Join(all, " ,\n") + "]", want, refused
}

// Every record is processed once and counted.
func TestEveryRecordIsProcessedOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 99, 100, 101, 1234} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			eachBatchFixture(t, 32, func(t *testing.T, s *batchFixture) {
				array, want, refused := mixed(n)
				id := s.post(s.a, array)
				switch got := s.get(path+"/"+id).Want(t, "before", 200); {
				case got.TextAt("state") != "queued":
					t.Errorf("before: %s: TextAt(\"state\") = %q, want \"queued\"", got.Text, got.TextAt("state"))
				case got.At("total") != float64(n):
					t.Errorf("before: %s: At(\"total\") = %v, want %v", got.Text, got.At("total"), float64(n))
				case got.At("done") != 0.0:
					t.Errorf("before: %s: At(\"done\") = %v, want 0.0", got.Text, got.At("done"))
				case got.At("finished_at") != nil:
					t.Errorf("before: %s: At(\"finished_at\") = %v, want nil", got.Text, got.At("finished_at"))
				}
				stop := s.run()
				got := s.wait(id)
				stop()
				want.ID, want.Owner = id, s.a.In(schema.Live)
				want.At = time.UnixMicro(sqlstoretest.Value[int64](t, s.DB, "SELECT finished_at FROM batch WHERE id = $1", id)).UTC()
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("finished (-want +got):\n%s", diff)
				}
				s.wantDoneOnce(id, n-refused, refused)
				for i := range n {
					if got := s.callCount(id, i); got != 1 {
						t.Errorf("record %d was done %d times", i, got)
					}
				}
				shown := s.get(path+"/"+id).Want(t, "after", 200)
				switch {
				case shown.TextAt("state") != "completed":
					t.Errorf("after: %s: shown.TextAt(\"state\") = %q, want \"completed\"", shown.Text, shown.TextAt("state"))
				case shown.At("successful") != float64(want.Successful):
					t.Errorf("after: %s: shown.At(\"successful\") = %v, want %v", shown.Text, shown.At("successful"), float64(want.Successful))
				case shown.At("failed") != float64(want.Failed):
					t.Errorf("after: %s: shown.At(\"failed\") = %v, want %v", shown.Text, shown.At("failed"), float64(want.Failed))
				case shown.At("done") != float64(n):
					t.Errorf("after: %s: shown.At(\"done\") = %v, want %v", shown.Text, shown.At("done"), float64(n))
				case shown.TextAt("finished_at") == "":
					t.Errorf("after: %s: shown.TextAt(\"finished_at\") is empty", shown.Text)
				}
				if got := s.metric("vayu_batch_records_total", "kind", "recharge", "outcome", "done"); got != float64(n) {
					t.Errorf("%v records are counted", got)
				}
				if got := s.metric("vayu_batch_under_way"); got != 0 {
					t.Errorf("%v are under way", got)
				}
			})
		})
	}
}

// A full batch is accepted and processed, each record once.
func TestTenThousandRecords(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	createThingTable(t, db)
	s := newBatchFixture(t, db, 256)
	s.a = accesstest.AddTenant(t, db, "a")
	s.newDoor()
	array, want, refused := mixed(schema.MaxBatchRecords)
	id := s.post(s.a, array)
	stop := s.run()
	got := s.wait(id)
	stop()
	if got.Successful != want.Successful || got.Failed != want.Failed {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s.wantDoneOnce(id, schema.MaxBatchRecords-refused, refused)
	if lines := s.stream(id); len(lines) != schema.MaxBatchRecords {
		t.Errorf("the results have %d lines", len(lines))
	}
}
