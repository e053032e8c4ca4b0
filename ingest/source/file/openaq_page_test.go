package file

import (
	"errors"
	"testing"

	"vayu/ingest"
	"vayu/internal/testing/realdata"
)

// TestPageWithoutItsSensor checks that a page of measurements without a sensor
// number in its name is rejected with the remedy.
func TestPageWithoutItsSensor(t *testing.T) {
	t.Parallel()
	f, err := Open("file", realdata.Path(t, "networks/openaq/measurements_co_ugm3_100rows.json"), 0, now, shippedFormats(t))
	if err != nil {
		t.Fatal(err)
	}
	var refused *ingest.BatchError
	err = f.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error { b.Release(); return nil })
	if !errors.As(err, &refused) {
		t.Fatalf("got error %v, want one of the type %T", err, refused)
	}
	if refused.Reason != ingest.BadReply {
		t.Errorf("got %s, %q; want %s", refused.Reason, err, ingest.BadReply)
	}
}

// TestMonitorOfTheArchive checks that a saved location beside an archive file
// gives kind, licence and attribution.
func TestMonitorOfTheArchive(t *testing.T) {
	t.Parallel()
	f, err := Open("file", realdata.Path(t, "networks/openaq/archive_quoted_8118.csv"), 0, now, shippedFormats(t))
	if err != nil {
		t.Fatal(err)
	}
	err = f.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
		defer b.Release()
		for _, s := range b.Stations {
			if s.ID != "openaq-new-delhi-8118" || s.Kind.String() != "reference" || s.Licence != "US Public Domain" || s.Latitude != 28.63576 {
				t.Errorf("station %+v", s)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
