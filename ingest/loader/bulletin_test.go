package loader_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// TestBulletins checks that a bulletin is stored as published, that a later one replaces it, and
// that it is no reading.
func TestBulletins(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	load := func(aqi int, category string) {
		t.Helper()
		var batch *ingest.Batch
		b := ingest.NewBuilder("bulletins", now, func(one *ingest.Batch) error { batch = one; return nil })
		b.Bulletin(air.Bulletin{
			Day: schema.DayOf(time.Date(2026, 1, 19, 6, 0, 0, 0, time.UTC)), Name: "Bangalore", AQI: aqi, Category: category,
			Prominent: []parameter.Parameter{air.PM10.Parameter(), air.O3.Parameter()}, StationsUsed: 9, StationsTotal: 13,
		})
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		defer batch.Release()
		batch.Run = 7
		for range 2 { // loading is idempotent
			if err := l.Load(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
	}
	load(80, "Satisfactory")
	load(101, "Moderate")
	var got struct {
		Day, Until                          time.Time
		Name, City, State, Category, Source string
		AQI, Used, Total                    uint16
		Prominent                           []string
		Run                                 uint64
	}
	row := conn.QueryRow(t.Context(), "SELECT day, name, city, state, until, aqi, category, prominent, stations_used, stations_total, source, run FROM "+name+".bulletin FINAL")
	err := row.Scan(&got.Day, &got.Name, &got.City, &got.State, &got.Until, &got.AQI, &got.Category, &got.Prominent, &got.Used, &got.Total, &got.Source, &got.Run)
	if err != nil {
		t.Fatal(err)
	}
	want := got
	want.Day, want.Until = time.Date(2026, 1, 19, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 19, 10, 30, 0, 0, time.UTC)
	want.Name, want.City, want.State, want.Category, want.Source = "Bangalore", "Bengaluru", "Karnataka", "Moderate", "bulletins"
	want.AQI, want.Used, want.Total, want.Prominent, want.Run = 101, 9, 13, []string{"pm10", "o3"}, 7
	got.Day, got.Until = got.Day.UTC(), got.Until.UTC()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bulletin (-want +got):\n%s", diff)
	}
	if n := count(t, conn, "SELECT count() FROM "+name+".bulletin FINAL"); n != 1 {
		t.Errorf("%d bulletins, want 1", n)
	}
	if n := count(t, conn, "SELECT count() FROM "+name+".reading"); n != 0 {
		t.Errorf("%d readings, want none", n)
	}
}
