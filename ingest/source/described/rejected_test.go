package described

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
)

// The rejected values of a reply come with their records, for the table rejected.
func TestRejectedValuesHaveTheirRecords(t *testing.T) {
	t.Parallel()
	file := shippedAs(t, "sensor-community")
	file.Env = anyKey
	d, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	record := func(at, value string) string {
		return `{"id":1,"timestamp":"` + at + `","location":{"id":1,"latitude":"12.97","longitude":"77.59","country":"IN","indoor":0},"sensor":{"id":1,` +
			`"sensor_type":{"name":"SDS011"}},"sensordatavalues":[{"id":1,"value":"` + value + `","value_type":"P2"}]}`
	}
	records := []string{
		record("2026-06-09 11:55:00", "6.5"),
		record("2026-06-09 11:56:00", "1O"),
		record("yesterday", "6.5"),
		record("2026-06-09 11:57:00", "99999"),
	}
	reply, err := d.mapping.Records.Decode([]byte("["+records[0]+","+records[1]+","+records[2]+","+records[3]+"]"), d.clean)
	if err != nil {
		t.Fatal(err)
	}
	var got []ingest.RejectedValue
	b := ingest.NewBuilder("sensor-community", noon, func(b *ingest.Batch) error {
		got = append(got, b.Values...)
		return drop(b)
	})
	sink := d.mapping.NewSink(b, noon, nil)
	b.Describe(sink.Record)
	if _, err := sink.Add(reply, nil); err != nil {
		t.Fatal(err)
	}
	b.Reject(ingest.NotListed) // of no record
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want := []ingest.RejectedValue{
		{Reason: ingest.BadNumber, Field: "pm25", Line: 2, Raw: records[1]},
		{Reason: ingest.BadTime, Field: "pm25", Line: 3, Raw: records[2]},
		{Reason: ingest.OutOfRange, Field: "pm25", Station: "sensorcommunity-1", Line: 4, Raw: records[3]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rejected values (-want +got):\n%s", diff)
	}
}
