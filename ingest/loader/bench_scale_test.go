package loader_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/schema/air"
)

// fleet is a network of sensors, each with one reading a minute. Particles and
// nitrogen dioxide alternate, so that there is an AQI.
type fleet []air.Station

func newFleet(sensors int) fleet {
	f := make(fleet, sensors)
	for i := range f {
		f[i] = station(fmt.Sprintf("fleet-%06d", i))
		f[i].Kind, f[i].Attribution = air.Sensor, "Fleet"
	}
	return f
}

// Fetch implements [ingest.Source].
func (f fleet) Fetch(_ context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	turn := [...]air.Pollutant{air.PM25, air.PM10, air.NO2}
	b := ingest.NewBuilder("fleet", w.To, yield)
	for at := w.From.Add(time.Minute); !at.After(w.To); at = at.Add(time.Minute) {
		minute := int(at.Unix() / 60)
		for i := range f {
			r := concentration(turn[minute%len(turn)], at, float64(scatter(i, minute)%15000)/100)
			r.Averaging = 1
			if err := b.Add(b.Station(f[i]), r); err != nil {
				b.Discard()
				return err
			}
		}
	}
	return b.Close()
}

// scatter returns a pseudo-random number that a codec cannot compress.
func scatter(sensor, minute int) uint64 {
	h := (uint64(sensor)<<32 | uint64(minute)) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	return (h ^ h>>27) * 0x94d049bb133111eb >> 16
}

// BenchmarkScaleIngest collects some minutes of a fleet, from the source through
// the checks into ClickHouse. It fetches each minute alone, as a schedule of one a
// minute does, or ten at once. The floor only inserts the same columns.
func BenchmarkScaleIngest(b *testing.B) {
	for _, every := range [...]time.Duration{time.Minute, 10 * time.Minute} {
		for _, sensors := range [...]int{100, 1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("every=%s/stations=%d", every, sensors), func(b *testing.B) {
				conn, name := database(b)
				_, raw := database(b)
				for b.Loop() {
					gather(b, conn, name, raw, newFleet(sensors), every)
				}
			})
		}
	}
}

// gather registers a fleet with a minute of readings. Then it collects windows: enough for 300,000 readings, at least
// one and at most an hour.
func gather(b *testing.B, conn driver.Conn, name, raw string, f fleet, every time.Duration) {
	b.Helper()
	minutes := int(every.Minutes())
	windows := min(max(300_000/(len(f)*minutes), 1), 60/minutes)
	var ours, bare time.Duration
	readings := 0
	l := loader.New(conn, name)
	first := now.Add(-time.Duration(windows) * every)
	register := func(batch *ingest.Batch) error {
		defer batch.Release()
		return l.Load(b.Context(), batch)
	}
	if err := f.Fetch(b.Context(), ingest.Window{From: first.Add(-time.Minute), To: first}, register); err != nil {
		b.Fatal(err)
	}
	for n := range windows {
		w := ingest.Window{From: first.Add(time.Duration(n) * every), To: first.Add(time.Duration(n+1) * every)}
		var kept []rows
		began, copying := time.Now(), time.Duration(0)
		err := f.Fetch(b.Context(), w, func(batch *ingest.Batch) error {
			defer batch.Release()
			err := l.Load(b.Context(), batch)
			readings += batch.Rows()
			at := time.Now()
			kept = append(kept, slices(batch))
			copying += time.Since(at)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		ours += time.Since(began) - copying
		began = time.Now()
		for _, s := range kept {
			if err := insertRaw(b.Context(), conn, raw, s); err != nil {
				b.Fatal(err)
			}
		}
		bare += time.Since(began)
	}
	b.ReportMetric(float64(readings)/ours.Seconds(), "readings/s")
	b.ReportMetric(float64(readings)/bare.Seconds(), "raw-readings/s")
	b.ReportMetric(bare.Seconds()/ours.Seconds(), "x-of-raw")
	b.ReportMetric(ours.Seconds()*1e3/float64(windows*minutes), "ms/minute") // of 60,000 that there are
	b.ReportMetric(bytesPerReading(b, conn, name), "B/reading")
}

// bytesPerReading returns the disk size of a reading after the parts are merged.
func bytesPerReading(b *testing.B, conn driver.Conn, name string) float64 {
	b.Helper()
	if err := conn.Exec(b.Context(), "OPTIMIZE TABLE "+name+".reading FINAL"); err != nil {
		b.Fatal(err)
	}
	const of = " FROM system.parts WHERE active AND table = 'reading' AND database = '%s'"
	size := count(b, conn, fmt.Sprintf("SELECT sum(bytes_on_disk)"+of, name))
	return float64(size) / float64(count(b, conn, fmt.Sprintf("SELECT sum(rows)"+of, name)))
}
