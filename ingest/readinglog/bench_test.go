package readinglog_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/internal/testing/fixture"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// BenchmarkIntake stores readings from a real broker. Its floor is the bare client, which
// reads the same messages with one reader for each partition, and inserts batches of as
// many readings that were made before.
func BenchmarkIntake(b *testing.B) {
	for _, readings := range []int{1, 100} {
		b.Run(fmt.Sprintf("readings=%d", readings), func(b *testing.B) {
			for range b.N {
				intake(b, 600_000/readings, readings)
			}
		})
	}
}

func intake(b *testing.B, messages, readings int) {
	b.Helper()
	s := newStores(b, brokersOf(b, true))
	s.settings.Partitions = 12
	first := s.start(b) // makes the topic and the stations
	s.fill(b, 0, 1000/readings, readings)
	s.await(b, 1000)
	first.stop()
	s.fill(b, 1000/readings, messages, readings)

	bare := s.bare(b, messages, readings)
	i := s.start(b)
	began := time.Now()
	fixture.Eventually(b, "the first batch is stored", func() bool { return fixture.MetricValue(b, i.metrics, "vayu_readinglog_consumed_total") > 0 })
	from := time.Now()
	early := fixture.MetricValue(b, i.metrics, "vayu_readinglog_consumed_total")
	fixture.Eventually(b, "all are stored", func() bool {
		return fixture.MetricValue(b, i.metrics, "vayu_readinglog_consumed_total") >= float64(messages-1000/readings)
	})
	rate := (float64(messages) - early) * float64(readings) / time.Since(from).Seconds()
	if rows, _ := s.stored(b, schema.Live); rows != uint64(messages*readings) {
		b.Errorf("%d readings are stored, want %d", rows, messages*readings)
	}
	b.ReportMetric(rate, "readings/s")
	b.ReportMetric(rate/bare, "x-of-bare")
	b.ReportMetric(from.Sub(began).Seconds(), "s-to-first")
}

// fill writes messages from a number to another, with different readings of 1,000 stations.
func (s *stores) fill(b *testing.B, from, to, readings int) {
	b.Helper()
	start := time.Now().Truncate(time.Hour).Add(-20 * 24 * time.Hour).UTC()
	var batch []kafka.Message
	for n := from; n < to; n++ {
		var body strings.Builder
		for i := range readings {
			number := n*readings + i
			fmt.Fprintf(&body, `{"station":"roof-%d","parameter":"pm25","value":%d.5,"unit":"ug/m3","at":%q,"averaging_minutes":1`,
				number%1000, number%900, start.Add(time.Duration(number/1000)*time.Minute).Format(time.RFC3339))
			if number < 1000 {
				body.WriteString(`,"latitude":28.6315,"longitude":77.2167`)
			}
			body.WriteString("}\n")
		}
		batch = append(batch, kafka.Message{
			Key: fmt.Appendf(nil, "roof-%d", n%1000), Value: []byte(body.String()),
			Headers: []kafka.Header{{Key: "account", Value: []byte(s.account.ID)}},
		})
		if len(batch) == 10_000/readings || n == to-1 {
			s.send(b, batch...)
			batch = batch[:0]
		}
	}
}

// bare returns how many readings a second the bare client reads and inserts.
func (s *stores) bare(b *testing.B, messages, readings int) float64 {
	b.Helper()
	const rows = 70_000
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	store := loader.New(s.db.Conn(), s.databases[schema.Sandbox])
	made := make(chan *ingest.Batch, 100)
	start := time.Now().Truncate(time.Hour).Add(-24 * time.Hour).UTC()
	for n := range messages*readings/rows + 1 {
		builder := ingest.NewBuilder("push", time.Now(), func(batch *ingest.Batch) error { made <- batch; return nil })
		for i := range rows {
			station := builder.Station(air.Station{ID: fmt.Sprintf("own-%d", i%1000), Kind: air.Sensor})
			r := air.Reading{Parameter: parameter.PM25, At: start.Add(time.Duration(n*100+i/1000) * time.Second), Value: 61.5, Kind: air.Concentration, Averaging: 1}
			if err := builder.Add(station, r); err != nil {
				b.Fatal(err)
			}
		}
		if err := builder.Close(); err != nil {
			b.Fatal(err)
		}
	}
	came := make(chan int, 1000)
	var reading sync.WaitGroup
	began := time.Now()
	for id := range s.settings.Partitions {
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: s.brokers, Topic: s.settings.Topic, Partition: id, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: 100 * time.Millisecond})
		reading.Go(func() {
			defer func() { _ = r.Close() }()
			for {
				if _, err := r.ReadMessage(ctx); err != nil {
					return
				}
				came <- readings
			}
		})
	}
	waiting, total := 0, 0
	for total < messages*readings {
		n := <-came
		waiting, total = waiting+n, total+n
		if waiting < rows && total < messages*readings {
			continue
		}
		batch := <-made
		batch.Stations = nil
		if err := store.Load(ctx, batch); err != nil {
			b.Fatal(err)
		}
		batch.Release()
		waiting = 0
	}
	rate := float64(total) / time.Since(began).Seconds()
	cancel()
	reading.Wait()
	return rate
}
