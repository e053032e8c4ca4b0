package backfill_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest/backfill"
	"vayu/internal/sqlstore/sqlstoretest"
)

func TestFollowEndsWithTheBackfill(t *testing.T) {
	t.Parallel()
	f := newFixture(sqlstoretest.SQLite(t), 3)
	f.work(t.Context(), t, f.start(t, f.wanted()), nil)
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"file":     {false, "sensors: 100.0 %, 12 readings, 3 of 3 partitions complete\n"},
		"terminal": {true, "\r\x1b[Ksensors: 100.0 %, 12 readings, 3 of 3 partitions complete\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			last, err := f.Follow(t.Context(), "sensors", &out, c.terminal)
			if err != nil || last.State != backfill.Done {
				t.Errorf("state %s, error %v", last.State, err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrittenBackfillHasRangeAndError(t *testing.T) {
	t.Parallel()
	job := backfill.Job{Source: "sensors", State: backfill.Failed, Error: "status 403", Progress: backfill.Progress{Listed: true, Parts: 2, Complete: 1, Failing: 1, Fraction: 0.5}}
	job.Window.From, job.Window.To = begin, end
	var out strings.Builder
	if err := job.Write(&out, end.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want := "sensors from 2026-05-30T00:00:00Z to 2026-06-09T00:00:00Z: failed\n" +
		"sensors: 50.0 %, 0 readings, 1 of 2 partitions complete, 1 failing (status 403)\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}
