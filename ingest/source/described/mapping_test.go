package described

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/ingest"
)

// FuzzMapping maps arbitrary replies with each shipped description. Nothing may panic,
// and the readings must pass the rules.
func FuzzMapping(f *testing.F) {
	var all []*Description
	for i, file := range Shipped() {
		file.Env = anyKey
		d, err := Parse(file)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, d)
		replies, _ := filepath.Glob(filepath.Join("testdata", d.Name, "*", "*.json"))
		for _, reply := range replies {
			text, err := os.ReadFile(reply)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), string(text))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		d := all[int(which)%len(all)]
		b := ingest.NewBuilder("fuzz", noon, func(b *ingest.Batch) error {
			for i := range b.Rows() {
				if r := b.Reading(i); ingest.Check(&r, noon) != ingest.None {
					t.Errorf("a reading that the rules refuse: %+v", r)
				}
			}
			return drop(b)
		})
		part := map[string]string{"name": "x", "location": "1", "parameter": "pm25", "unit": "µg/m³"}
		body, err := d.mapping.Records.Decode([]byte(text), d.clean)
		if err != nil {
			b.Discard()
			return
		}
		sink := d.mapping.NewSink(b, noon, nil)
		if _, err := sink.Add(body, part); err != nil {
			t.Fatal(err)
		}
		_ = sink.Check()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// hoursPage is a page of OpenAQ with n hours.
func hoursPage(n int) []byte {
	var rows []string
	for i := range n {
		to := noon.Add(-time.Duration(i+1) * time.Hour)
		from := to.Add(-time.Hour).Format(time.RFC3339)
		rows = append(rows, fmt.Sprintf(`{"value":%d.5,"flagInfo":{"hasFlags":false},"parameter":{"id":2,"name":"pm25","units":"µg/m³","displayName":null},
			"period":{"label":"1hour","interval":"01:00:00","datetimeFrom":{"utc":%q,"local":%q},"datetimeTo":{"utc":%q,"local":%q}},
			"coordinates":null,"summary":{"min":1,"q02":1,"median":3,"max":9,"avg":%d.512345,"sd":null},
			"coverage":{"expectedCount":1,"observedCount":1,"percentComplete":100.0}}`,
			i%90, from, from, to.Format(time.RFC3339), to.Format(time.RFC3339), i%90))
	}
	return []byte(`{"meta":{"found":1000},"results":[` + strings.Join(rows, ",") + `]}`)
}

// sensorsReply is a reply of Sensor.Community with n sensors of two values.
func sensorsReply(n int) []byte {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"id":%d,"timestamp":"2026-06-09 11:55:%02d","sampling_rate":null,
			"location":{"id":%d,"latitude":"12.97","longitude":"77.59","altitude":"900","country":"IN","exact_location":0,"indoor":0},
			"sensor":{"id":%d,"pin":"1","sensor_type":{"id":14,"name":"SDS011","manufacturer":"Nova"}},
			"sensordatavalues":[{"id":1,"value":"14.%d","value_type":"P1"},{"id":2,"value":"6.%d","value_type":"P2"}]}`, i, i%60, i, i, i%100, i%100))
	}
	return []byte("[" + strings.Join(all, ",") + "]")
}

// BenchmarkMapping measures the path from the bytes of a reply to batches. The target
// is 100,000 readings a second.
func BenchmarkMapping(b *testing.B) {
	for name, body := range map[string][]byte{"openaq": hoursPage(1000), "sensor-community": sensorsReply(5000)} {
		b.Run("network="+name, func(b *testing.B) {
			file := shippedAs(b, name)
			file.Env = anyKey
			d, err := Parse(file)
			if err != nil {
				b.Fatal(err)
			}
			part := map[string]string{"name": "x", "location": "1", "parameter": "pm25", "unit": "µg/m³"}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			readings := 0
			for b.Loop() {
				builder := ingest.NewBuilder(name, noon, drop)
				sink := d.mapping.NewSink(builder, noon, nil)
				reply, err := d.mapping.Records.Decode(body, d.clean)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := sink.Add(reply, part); err != nil {
					b.Fatal(err)
				}
				if err := builder.Close(); err != nil {
					b.Fatal(err)
				}
				readings += sink.Readings()
			}
			b.ReportMetric(float64(readings)/b.Elapsed().Seconds(), "readings/s")
		})
	}
}
