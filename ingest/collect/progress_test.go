package collect_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/ingest"
	"vayu/ingest/backfill"
	"vayu/ingest/collect"
	"vayu/ingest/progress"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
	"vayu/schema/air"
)

// The progress of a source has its watermark and its last backfill, also of a source that has one of both only.
func TestProgressOfWorld(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		noon := time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC)
		scope := progress.Scope(schema.Live, "")
		for _, name := range []string{"cpcb", "openaq"} {
			if err := progress.New(db, scope, time.Now).Save(t.Context(), name, ingest.Progress{Watermark: noon}); err != nil {
				t.Fatal(err)
			}
		}
		jobs := backfill.New(db, scope, func() time.Time { return noon })
		window := ingest.Window{From: noon.Add(-time.Hour), To: noon}
		for _, name := range []string{"openaq", "purpleair"} {
			if _, err := jobs.Start(t.Context(), backfill.Job{Source: name, Window: window, Parallel: 1}); err != nil {
				t.Fatal(err)
			}
		}
		running := &air.SourceBackfill{State: "running", From: window.From, To: noon, StartedAt: noon, AdvancedAt: noon}
		for world, want := range map[schema.World]map[string]*air.SourceProgress{
			schema.Sandbox: {},
			schema.Live: {
				"cpcb":      {Watermark: &noon},
				"openaq":    {Watermark: &noon, Backfill: running},
				"purpleair": {Backfill: running},
			},
		} {
			got, err := collect.Progress(db, "")(t.Context(), world)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", world, diff)
			}
		}
	})
}
