package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
)

// fingerprintOf returns the fingerprint of a fetch that notes fields.
func fingerprintOf(note func(*ingest.Recorder)) ingest.Fingerprint {
	var r ingest.Recorder
	note(&r)
	return r.Fingerprint()
}

func TestFingerprintChangesWithNamesAndUnits(t *testing.T) {
	t.Parallel()
	base := fingerprintOf(func(r *ingest.Recorder) {
		r.Field("value", ingest.NumberField)
		r.Field("at", ingest.TextField)
		r.Unit("pm25", "µg/m³")
		r.Unit("pm25", "ppb")
	}).Hash()
	for _, c := range []struct {
		name string
		same bool
		note func(*ingest.Recorder)
	}{
		{"another order", true, func(r *ingest.Recorder) {
			r.Unit("pm25", "ppb")
			r.Field("at", ingest.TextField)
			r.Unit("pm25", "µg/m³")
			r.Field("value", ingest.NumberField)
		}},
		{"a null value", true, func(r *ingest.Recorder) {
			r.Field("value", ingest.NullField)
			r.Field("at", ingest.TextField)
			r.Unit("pm25", "µg/m³")
			r.Unit("pm25", "ppb")
		}},
		{"a renamed field", false, func(r *ingest.Recorder) {
			r.Field("val", ingest.NumberField)
			r.Field("at", ingest.TextField)
			r.Unit("pm25", "µg/m³")
			r.Unit("pm25", "ppb")
		}},
		{"another unit", false, func(r *ingest.Recorder) {
			r.Field("value", ingest.NumberField)
			r.Field("at", ingest.TextField)
			r.Unit("pm25", "µg/m³")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := fingerprintOf(c.note).Hash() == base; got != c.same {
				t.Errorf("the same hash: %v, want %v", got, c.same)
			}
		})
	}
	if got := (ingest.Fingerprint{}).Hash(); got != "" {
		t.Errorf("the hash without a field is %q", got)
	}
}

func TestFingerprintIsBounded(t *testing.T) {
	t.Parallel()
	f := fingerprintOf(func(r *ingest.Recorder) {
		for i := range 10_000 {
			r.Field(fmt.Sprint(i, strings.Repeat("नाम", 1000)), ingest.TextField)
			r.Unit("pm25", fmt.Sprint(i))
			r.Unit(fmt.Sprint(i), strings.Repeat("नाम", 1000))
		}
	})
	size := 0
	for path := range f.Fields {
		size += len(path)
	}
	for _, units := range f.Units {
		for _, unit := range units {
			size += len(unit)
		}
	}
	if size > 250_000 {
		t.Errorf("a fingerprint has %d bytes", size)
	}
}

func TestTypesOfFieldHaveNames(t *testing.T) {
	t.Parallel()
	f := fingerprintOf(func(r *ingest.Recorder) {
		for _, is := range []ingest.FieldType{ingest.NullField, ingest.ListField, ingest.NumberField, ingest.TextField} {
			r.Field("a", is)
		}
		r.Field("b", ingest.NullField)
	})
	got := map[string]string{}
	for path, is := range f.Fields {
		got[path] = is.String()
	}
	if diff := cmp.Diff(map[string]string{"a": "text|number|list", "b": ""}, got); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}
