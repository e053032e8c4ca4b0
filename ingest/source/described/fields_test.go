package described

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
)

// fingerprintOf maps a reply with a shipped description.
func fingerprintOf(t *testing.T, name, body string) ingest.Fingerprint {
	t.Helper()
	file := shippedAs(t, name)
	file.Env = anyKey
	d, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := d.mapping.Records.Decode([]byte(body), d.clean)
	if err != nil {
		t.Fatal(err)
	}
	var recorder ingest.Recorder
	b := ingest.NewBuilder(name, noon, drop)
	b.Observe(ingest.WithRecorder(t.Context(), &recorder))
	if _, err := d.mapping.NewSink(b, noon, nil).Add(reply, map[string]string{"name": "x", "location": "1", "parameter": "pm25", "unit": "µg/m³"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return recorder.Fingerprint()
}

func typesOf(f ingest.Fingerprint) map[string]string {
	all := make(map[string]string)
	for path, is := range f.Fields {
		all[path] = is.String()
	}
	return all
}

func TestFingerprintHasFieldsOfRecordsAndReply(t *testing.T) {
	t.Parallel()
	got := fingerprintOf(t, "openaq", `{"meta":{"found":2},"results":[
		{"value":null,"parameter":{"units":"µg/m³"},"flags":[{"id":1},{"id":2,"text":"x"}]},
		{"value":7.5,"parameter":{"units":"ppb"},"ok":true}]}`)
	want := map[string]string{
		"reply.meta": "object", "reply.meta.found": "number", "value": "number", "parameter": "object", "parameter.units": "text",
		"flags": "list", "flags.#": "object", "flags.#.id": "number", "flags.#.text": "text", "ok": "bool",
	}
	if diff := cmp.Diff(want, typesOf(got)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestFingerprintHasColumnsOfTable(t *testing.T) {
	t.Parallel()
	got := typesOf(fingerprintOf(t, "purpleair", `{"time_stamp":1781006400,"fields":["sensor_index","last_seen","pm2.5_cf_1"],"data":[[1,1781006390,12.5],[2,null,"x"]]}`))
	for path, want := range map[string]string{"sensor_index": "number", "last_seen": "number", "pm2.5_cf_1": "text|number", "reply.fields.#": "text"} {
		if got[path] != want {
			t.Errorf("field %q has the types %q, want %q", path, got[path], want)
		}
	}
}

// A field that only late records have is found, and thousands of records cost no more fields.
func TestFingerprintSamplesLateRecords(t *testing.T) {
	t.Parallel()
	var records []string
	for i := range 5000 {
		late := ""
		if i > 1000 {
			late = `,"late":1`
		}
		records = append(records, fmt.Sprintf(`{"value":%d%s}`, i, late))
	}
	got := typesOf(fingerprintOf(t, "openaq", `{"meta":{},"results":[`+strings.Join(records, ",")+`]}`))
	if diff := cmp.Diff(map[string]string{"reply.meta": "object", "value": "number", "late": "number"}, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// A hostile reply with deep nesting and names that are data has a bounded fingerprint.
func TestFingerprintOfHostileReplyIsBounded(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 20_000 {
		names = append(names, fmt.Sprintf(`"n%d":{"a":{"b":1}}`, i))
	}
	deep := strings.Repeat(`{"d":`, 1000) + "1" + strings.Repeat("}", 1000)
	got := fingerprintOf(t, "openaq", `{"meta":{},"results":[{"value":1,"deep":`+deep+`,"many":{`+strings.Join(names, ",")+`}}]}`)
	if len(got.Fields) > 500 {
		t.Errorf("the fingerprint has %d fields", len(got.Fields))
	}
	for path := range got.Fields {
		if strings.Count(path, ".") > 8 {
			t.Errorf("the fingerprint has the path %q", path)
		}
	}
}

// The units that records state are part of the fingerprint.
func TestFingerprintHasStatedUnits(t *testing.T) {
	t.Parallel()
	got := fingerprintOf(t, "airnow", `[{"Latitude":28.6,"Longitude":77.2,"UTC":"2026-06-09T11:00","Parameter":"PM2.5","Unit":"UG/M3","Value":12.5,"SiteName":"A","AgencyName":"B","FullAQSCode":"1","IntlAQSCode":"2"}]`)
	if diff := cmp.Diff(map[string][]string{"pm25": {"UG/M3"}}, got.Units); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
}
