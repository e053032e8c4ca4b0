package push_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// pushSize is the number of readings of one request.
const pushSize = 5000

// BenchmarkPush measures durable readings of 8 clients, each with requests of 5,000
// readings as NDJSON. The floor is the insert of the same batches without HTTP.
func BenchmarkPush(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		f := newFixture(b)
		var n atomic.Int64
		eightClients(b, func() {
			first := now.Add(-time.Duration(n.Add(pushSize)) * time.Second)
			builder := ingest.NewBuilder("push", now, func(batch *ingest.Batch) error {
				defer batch.Release()
				batch.Stations = nil
				return f.store.Load(b.Context(), batch)
			})
			station := builder.Station(air.Station{ID: "own-1", Kind: air.Sensor})
			for i := range pushSize {
				r := air.Reading{Parameter: parameter.PM25, At: first.Add(time.Duration(i) * time.Second), Value: 61.5, Kind: air.Concentration, Averaging: 1}
				if err := builder.Add(station, r); err != nil {
					b.Error(err)
				}
			}
			if err := builder.Close(); err != nil {
				b.Error(err)
			}
		})
	})
	b.Run("http", func(b *testing.B) {
		f := newFixture(b)
		f.put("roof-1", roof).Want(b, "register", 200)
		var n atomic.Int64
		eightClients(b, func() {
			first := now.Add(-time.Duration(n.Add(pushSize)) * time.Second)
			var body strings.Builder
			for i := range pushSize {
				fmt.Fprintf(&body, `{"station":"roof-1","parameter":"pm25","value":61.5,"unit":"ug/m3","at":%q,"averaging_minutes":1}`+"\n",
					first.Add(time.Duration(i)*time.Second).Format(time.RFC3339))
			}
			if reply := f.post("application/x-ndjson", body.String()); reply.At("accepted") != float64(pushSize) {
				b.Errorf("got %d %s", reply.Status, reply.Text)
			}
		})
	})
}

// eightClients calls push b.N times from 8 goroutines, and reports readings per second.
func eightClients(b *testing.B, push func()) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				push()
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)*pushSize/b.Elapsed().Seconds(), "readings/s")
}
