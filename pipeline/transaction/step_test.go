package transaction

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// recordStep records a step at a time after noon.
func recordStep(t *testing.T, db *sqlstore.DB, subject string, act schema.StepAct, answer schema.StepAnswer, after time.Duration) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		_, err := RecordStep(tx, subject, act, answer, noon.Add(after))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func formatSteps(t *testing.T, db *sqlstore.DB, subject string) (all []string) {
	t.Helper()
	found, err := Steps(db.View(t.Context()), subject)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found {
		all = append(all, fmt.Sprint(s.Act, " ", s.Answer, " ", s.Times, " ", s.First.Sub(noon), " ", s.Last.Sub(noon)))
	}
	return all
}

// Equal consecutive steps are stored as one.
func TestEqualStepsAreOne(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		recordStep(t, db, "txn_1", schema.ActSubmit, schema.AnswerPending, 0)
		for i := range 100 {
			recordStep(t, db, "txn_1", schema.ActEnquire, schema.AnswerPending, time.Duration(1+i)*time.Second)
		}
		recordStep(t, db, "txn_2", schema.ActEnquire, schema.AnswerPending, time.Hour)
		recordStep(t, db, "txn_1", schema.ActEnquire, schema.AnswerNone, 101*time.Second)
		recordStep(t, db, "txn_1", schema.ActEnquire, schema.AnswerPending, 90*time.Second) // by a clock that is behind
		recordStep(t, db, "txn_1", schema.ActEnquire, schema.AnswerPending, 80*time.Second)
		want := []string{
			"submit pending 1 0s 0s", "enquire pending 100 1s 1m40s", "enquire no_answer 1 1m41s 1m41s", "enquire pending 2 1m41s 1m41s",
		}
		if diff := cmp.Diff(want, formatSteps(t, db, "txn_1")); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		err := db.Update(t.Context(), func(tx *sqlstore.Tx) error { return DeleteSteps(tx, []string{"txn_1", "txn_3"}) })
		if err != nil {
			t.Fatal(err)
		}
		if got := append(formatSteps(t, db, "txn_1"), formatSteps(t, db, "txn_2")...); len(got) != 1 {
			t.Errorf("after one was forgotten: %q", got)
		}
	})
}

// The steps of a finished row include the last one, and those of a pending row are not
// newer than the row.
func TestStepsAreConsistentWithTheRow(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for ended, want := range map[bool]int{true: 2, false: 1} {
			subject := fmt.Sprint("txn_", ended)
			recordStep(t, db, subject, schema.ActSubmit, schema.AnswerPending, 0)
			found, steps, err := readWithSteps(db.View(t.Context()), subject, func() (bool, error) {
				recordStep(t, db, subject, schema.ActEnquire, schema.AnswerFailed, time.Second)
				return ended, nil
			}, func(ended *bool) bool { return *ended })
			if err != nil || found != ended || len(steps) != want {
				t.Errorf("ended %t: got %t with %v, %v, want %d steps", ended, found, steps, err, want)
			}
		}
	})
}

// A subject has at most a hundred steps, the newest among them.
func TestStepsAreBounded(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		answers := [...]schema.StepAnswer{schema.AnswerPending, schema.AnswerNone}
		for i := range 151 {
			recordStep(t, db, "txn_1", schema.ActEnquire, answers[i%2], time.Duration(i)*time.Second)
		}
		got := formatSteps(t, db, "txn_1")
		if len(got) != maxSteps || got[98] != "enquire pending 1 1m38s 1m38s" || got[99] != "enquire pending 1 2m30s 2m30s" {
			t.Errorf("got %d steps, in the end %q", len(got), got[len(got)-2:])
		}
	})
}

func TestStepsUseTheirIndex(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		sqlstoretest.Exec(t, db, `INSERT INTO upstream_step (subject, number, act, answer, first_at, last_at, times)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 20000)
			SELECT 'txn_' || CAST(i / 2 AS TEXT), 1 + i % 2, 'enquire', 'pending', i, i, 1 FROM n`)
		sqlstoretest.Exec(t, db, "ANALYZE")
		for text, args := range map[string][]any{
			selectSteps: {"txn_7"}, repeatStep: {"txn_7", "enquire", "pending", 1}, insertStep: {"txn_7", "enquire", "pending", 1, 100},
			replaceStep: {"txn_7", "enquire", "pending", 1, 100},
		} {
			wantNoScan(t, sqlstoretest.Plan(t, db, text, args...), text)
		}
	})
}
