package air_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
	"vayu/schema/air"
)

func TestRecordHasFieldsInOrder(t *testing.T) {
	t.Parallel()
	r := air.Record{
		Status: schema.Success, City: `Pune "<X>" दिल्ली`, AQI: 95, Category: "Satisfactory",
		PM25: 6001, PM10: 9000, NO2: 2050, SO2: schema.Unknown, CO: 113, O3: 0, Dominant: "PM10", Updated: time.Date(2026, 11, 20, 8, 30, 0, 0, schema.India),
	}
	want := `{"status":"success","city":"Pune \"\u003cX\u003e\" दिल्ली","aqi":95,"category":"Satisfactory","pm25":60.01,"pm10":90,` +
		`"no2":20.5,"so2":null,"co":1.13,"o3":0,"dominant":"PM10","updated":"2026-11-20T03:00:00Z"}`
	if diff := cmp.Diff(want, string(append(r.Append(nil), '}'))); diff != "" {
		t.Error(diff)
	}
	r.Updated = r.Updated.UTC()
	marshalled, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(marshalled)); diff != "" {
		t.Errorf("encoding/json writes it differently: %s", diff)
	}
	var back air.Record
	if err := json.Unmarshal(marshalled, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Error(diff)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "Delhi", "दिल्ली", "a\"b\\c\x00\x1f\x7f<>&", "\xff\xfe", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var back, want string
		if err := json.Unmarshal(air.AppendString(nil, s), &back); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for _, r := range s {
			want += string(r)
		}
		if back != want {
			t.Errorf("%q came back as %q", s, back)
		}
	})
}
