package progress_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/progress"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema/air"
)

var noon = time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC)

// store returns the progress of the live world, with a clock at noon.
func store(db *sqlstore.DB) (*progress.Store, *fixture.Clock) {
	var clock fixture.Clock
	clock.Set(noon)
	return progress.New(db, "live", clock.Now), &clock
}

func save(t *testing.T, s *progress.Store, p ingest.Progress) {
	t.Helper()
	if err := s.Save(t.Context(), "openaq", p); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, s *progress.Store, revision int64) (ingest.Progress, bool) {
	t.Helper()
	p, changed, err := s.Load(t.Context(), "openaq", revision)
	if err != nil {
		t.Fatal(err)
	}
	return p, changed
}

// many returns partitions with watermarks of noon and the given number of failures.
func many(n, failures int) map[string]ingest.PartitionProgress {
	all := make(map[string]ingest.PartitionProgress)
	for i := range n {
		all[fmt.Sprint(i)] = ingest.PartitionProgress{Watermark: noon, Failures: failures}
	}
	return all
}

func TestSavedProgressIsLoaded(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s, _ := store(db)
		if p, changed := load(t, s, -1); !changed || !cmp.Equal(p, ingest.Progress{}) {
			t.Errorf("a source without progress has %+v, %v", p, changed)
		}
		want := ingest.Progress{
			Config: "c1", Watermark: noon, Oldest: noon.Add(-48 * time.Hour), Newest: noon.Add(-time.Hour), Target: noon.Add(time.Minute),
			Partitions: many(100, 1),
		}
		save(t, s, want)
		want.Config, want.Target = "c2", time.Time{}
		want.Partitions["7"] = ingest.PartitionProgress{Watermark: noon.Add(time.Minute)}
		changes := want
		changes.Partitions = map[string]ingest.PartitionProgress{"7": want.Partitions["7"]}
		save(t, s, changes)
		if err := progress.New(db, "sandbox", time.Now).Save(t.Context(), "openaq", ingest.Progress{Watermark: noon.Add(-time.Hour), Partitions: many(1, 5)}); err != nil {
			t.Fatal(err)
		}
		got, changed := load(t, s, -1)
		if diff := cmp.Diff(want, got); diff != "" || !changed {
			t.Errorf("changed %v, progress (-want +got):\n%s", changed, diff)
		}
		if got, changed := load(t, s, 0); changed || !cmp.Equal(got, ingest.Progress{}) {
			t.Errorf("the loaded revision again: changed %v, progress %+v; want no change", changed, got)
		}
		save(t, s, ingest.Progress{Restart: true, Partitions: many(2, 0)})
		if got, _ := load(t, s, -1); len(got.Partitions) != 2 || !got.Watermark.IsZero() {
			t.Errorf("after a restart the progress is %+v", got)
		}
	})
}

func TestCommandSetsWatermark(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s, _ := store(db)
		save(t, s, ingest.Progress{Watermark: noon, Newest: noon, Target: noon, Partitions: many(3, 2)})
		earlier := noon.Add(-30 * 24 * time.Hour)
		if err := s.SetWatermark(t.Context(), "openaq", "1", earlier); err != nil {
			t.Fatal(err)
		}
		p, changed := load(t, s, 0)
		want := map[string]ingest.PartitionProgress{"0": many(1, 2)["0"], "1": {Watermark: earlier}, "2": many(1, 2)["0"]}
		if diff := cmp.Diff(want, p.Partitions); diff != "" || !changed {
			t.Errorf("changed %v, partitions (-want +got):\n%s", changed, diff)
		}
		if err := s.Save(t.Context(), "openaq", ingest.Progress{Watermark: noon.Add(time.Hour), Partitions: many(3, 0)}); !errors.Is(err, ingest.ErrRevised) {
			t.Errorf("a fetch that began before the command stores its progress: %v", err)
		}
		if again, _ := load(t, s, -1); !cmp.Equal(p, again) {
			t.Errorf("the progress of the command is replaced: %s", cmp.Diff(p, again))
		}
		if err := s.SetWatermark(t.Context(), "openaq", "", earlier); err != nil {
			t.Fatal(err)
		}
		p, _ = load(t, s, p.Revision)
		if diff := cmp.Diff(ingest.Progress{Revision: 2, Watermark: earlier, Newest: noon, Partitions: map[string]ingest.PartitionProgress{}}, p); diff != "" {
			t.Errorf("progress of all partitions (-want +got):\n%s", diff)
		}
	})
}

func TestInvalidWatermarkIsRefused(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s, _ := store(db)
		if err := s.SetWatermark(t.Context(), "new", "", noon.Add(time.Second)); !errors.Is(err, progress.ErrFuture) {
			t.Errorf("a watermark in the future: %v", err)
		}
		if err := s.SetWatermark(t.Context(), "new", "7", noon); !errors.Is(err, progress.ErrNoPartition) {
			t.Errorf("an unknown partition: %v", err)
		}
		if all, err := s.Watermarks(t.Context(), "new"); err != nil || len(all) > 0 {
			t.Errorf("a refused watermark is stored: %+v, %v", all, err)
		}
		if err := s.SetWatermark(t.Context(), "new", "", noon); err != nil {
			t.Fatal(err)
		}
		all, err := s.Watermarks(t.Context(), "new")
		if diff := cmp.Diff([]progress.Watermark{{Source: "new", At: noon, UpdatedAt: noon}}, all); diff != "" || err != nil {
			t.Errorf("error %v, watermarks (-want +got):\n%s", err, diff)
		}
	})
}

func TestWatermarksAreListedOldestFirst(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s, clock := store(db)
		save(t, s, ingest.Progress{Watermark: noon, Partitions: map[string]ingest.PartitionProgress{"old": {Watermark: noon.Add(-time.Hour), Failures: 3}}})
		clock.Advance(91 * 24 * time.Hour)
		save(t, s, ingest.Progress{Watermark: noon, Partitions: map[string]ingest.PartitionProgress{
			"b": {Watermark: noon.Add(-time.Minute), Failures: 1}, "c": {Watermark: noon.Add(-time.Second)}, "a": {Watermark: noon.Add(-time.Second)},
		}})
		all, err := s.Watermarks(t.Context(), "openaq")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range all {
			got = append(got, fmt.Sprintf("%q %s %d", w.Partition, noon.Sub(w.At), w.Failures))
		}
		// The partition "old" is forgotten: the network has not listed it for 90 days.
		if diff := cmp.Diff([]string{`"" 0s 0`, `"b" 1m0s 1`, `"a" 1s 0`, `"c" 1s 0`}, got); diff != "" {
			t.Errorf("watermarks (-want +got):\n%s", diff)
		}
	})
}

// Each source of the scope has its own oldest partitions, and at most so many.
func TestProgressOfAllSources(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s, _ := store(db)
		save(t, s, ingest.Progress{Watermark: noon, Partitions: many(air.MaxOldest+5, 0)})
		late := noon.Add(-time.Hour)
		save(t, s, ingest.Progress{Watermark: noon, Partitions: map[string]ingest.PartitionProgress{"late": {Watermark: late, Failures: 2}}})
		if err := s.Save(t.Context(), "cpcb", ingest.Progress{Newest: noon}); err != nil {
			t.Fatal(err)
		}
		if err := progress.New(db, "sandbox", time.Now).Save(t.Context(), "simulator", ingest.Progress{Watermark: noon}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Sources(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		openaq := got["openaq"]
		if openaq == nil || len(openaq.Oldest) != air.MaxOldest {
			t.Fatalf("openaq has the progress %+v, want %d partitions", openaq, air.MaxOldest)
		}
		openaq.Oldest = openaq.Oldest[:2]
		want := map[string]*air.SourceProgress{
			"cpcb": {Oldest: []air.PartitionProgress{}},
			"openaq": {
				Watermark: &noon, Partitions: air.MaxOldest + 6, Failing: 1,
				Oldest: []air.PartitionProgress{{Partition: "late", Watermark: late, Failures: 2}, {Partition: "0", Watermark: noon}},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}
