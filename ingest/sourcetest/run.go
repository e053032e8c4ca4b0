package sourcetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/ingest"
)

// Opener builds the source under test for a case, at c.URL or c.Path with c.Clock
// and [Key].
type Opener func(c *Case) (ingest.Source, error)

// Run runs every folder of dir as a test. Each case must give its readings,
// rejections and error. The source must also keep the contract of [ingest.Source].
func Run(t *testing.T, dir string, open Opener) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, entry := range entries {
		folder := filepath.Join(dir, entry.Name())
		if _, err := os.Stat(filepath.Join(folder, "case.json")); err != nil {
			continue // fuzz corpora are here, too
		}
		cases++
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			c := load(t, folder)
			var s *server
			if len(c.Replies) > 0 {
				s = serve(t, c)
			}
			runCase(t, c, s, open)
		})
	}
	if cases == 0 {
		t.Fatalf("%s has no case", dir)
	}
}

func runCase(t *testing.T, c *Case, s *server, open Opener) {
	src, err := open(c)
	if err != nil {
		if fault := c.mismatch(err); fault != "" {
			t.Fatal(fault)
		}
		return
	}
	var got fetched
	err = src.Fetch(t.Context(), ingest.Window{}, got.collect(t, c))
	if fault := c.mismatch(err); fault != "" {
		t.Fatal(fault)
	}
	if err != nil && len(got.readings) > 0 {
		t.Errorf("a rejected batch yielded %d readings", len(got.readings))
	}
	got.compare(t, c)
	if err != nil {
		return
	}
	t.Run("again", func(t *testing.T) { fetchAgain(t, c, s, src, &got) })
	t.Run("cancelled", func(t *testing.T) { fetchCancelled(t, c, s, open) })
	if got.batches == 0 {
		return
	}
	t.Run("refused", func(t *testing.T) { fetchRefused(t, c, s, open) })
}

// compare compares the fetched data with the case's files.
func (h *fetched) compare(t *testing.T, c *Case) {
	t.Helper()
	want, _ := c.expected(t, "readings.csv")
	if diff := cmp.Diff(want, h.readingText()); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	if want, ok := c.expected(t, "missing.csv"); ok {
		if diff := cmp.Diff(want, lines(h.missing)); diff != "" {
			t.Errorf("missing (-want +got):\n%s", diff)
		}
	}
	if want, ok := c.expected(t, "stations.csv"); ok {
		if diff := cmp.Diff(want, h.stationText()); diff != "" {
			t.Errorf("stations (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(c.Rejected, h.rejected, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rejected (-want +got):\n%s", diff)
	}
}

// fetchAgain checks that a second fetch gives the same readings, or none if the
// source detects that nothing changed.
func fetchAgain(t *testing.T, c *Case, s *server, src ingest.Source, first *fetched) {
	if s != nil {
		s.restart()
	}
	var second fetched
	if err := src.Fetch(t.Context(), ingest.Window{}, second.collect(t, c)); err != nil {
		t.Fatalf("the second fetch: %v", err)
	}
	if len(second.readings) == 0 {
		return
	}
	if diff := cmp.Diff(first.readingText(), second.readingText()); diff != "" {
		t.Errorf("the second fetch differs (-first +second):\n%s", diff)
	}
}

// fetchCancelled checks that a fetch with an ended context returns the context's
// error.
func fetchCancelled(t *testing.T, c *Case, s *server, open Opener) {
	if s != nil {
		s.restart()
	}
	src, err := open(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var got fetched
	if err := src.Fetch(ctx, ingest.Window{}, got.collect(t, c)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context ended, want its error", err)
	}
}

// errRefused is the error of a store that cannot store a batch.
var errRefused = errors.New("the store is down")

// fetchRefused checks that Fetch returns yield's error at once, and that a second fetch
// yields again.
func fetchRefused(t *testing.T, c *Case, s *server, open Opener) {
	src, err := open(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s != nil {
			s.restart()
		}
		calls := 0
		err := src.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
			calls++
			b.Release()
			return errRefused
		})
		if calls != 1 {
			t.Errorf("yield was called %d times, want once", calls)
		}
		if !errors.Is(err, errRefused) {
			t.Errorf("Fetch returned %v, want %v", err, errRefused)
		}
	}
}
