package stream_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/ingest/stream"
	"vayu/internal/testing/fixture"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

var now = time.Date(2026, 3, 8, 6, 0, 0, 0, time.UTC)

// numbers is a decoder of payloads that are PM2.5 of one station, minute after minute.
type numbers struct{ commits int }

func (n *numbers) Commit() { n.commits++ }

func (n *numbers) Decode(messages []stream.Message) (batches []*ingest.Batch, outcomes map[stream.Outcome]int, err error) {
	outcomes = make(map[stream.Outcome]int)
	b := ingest.NewBuilder("roofs", now, func(batch *ingest.Batch) error {
		batches = append(batches, batch)
		return nil
	})
	station := b.Station(air.Station{ID: "roofs-one", Name: "One"})
	for i, m := range messages {
		if string(m.Payload) == "panic" {
			panic("a fault of the decoder")
		}
		value, err := strconv.ParseFloat(string(m.Payload), 64)
		if err != nil {
			outcomes[stream.Unreadable]++
			b.Reject(ingest.BadNumber)
			continue
		}
		outcomes[stream.Read]++
		at := now.Add(time.Duration(i-100) * time.Minute)
		if err := b.Add(station, air.Reading{Parameter: parameter.PM25, At: at, Value: value, Averaging: 1}); err != nil {
			return batches, nil, err
		}
	}
	return batches, outcomes, b.Close()
}

// store stores values, unless it fails.
type store struct {
	values  []float64
	failing error
}

func (s *store) Load(_ context.Context, b *ingest.Batch) error {
	if s.failing != nil {
		return s.failing
	}
	for i := range b.Rows() {
		s.values = append(s.values, b.Reading(i).Value)
	}
	return nil
}

// journal keeps the last state of each run.
type journal struct {
	mu   sync.Mutex
	runs []ingest.Run
}

func (j *journal) Record(_ context.Context, runs []ingest.Run) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range runs {
		j.runs = append(slices.DeleteFunc(j.runs, func(old ingest.Run) bool { return old.ID == r.ID }), r)
	}
	return nil
}

// processorFixture is a processor with its surroundings.
type processorFixture struct {
	*stream.Processor
	store   *store
	decoder *numbers
	journal *journal
	metrics *prometheus.Registry
	changes int
}

func newProcessor() *processorFixture {
	f := &processorFixture{store: new(store), decoder: new(numbers), journal: new(journal), metrics: prometheus.NewRegistry()}
	f.Processor = stream.NewProcessor(stream.Config{
		Source: "roofs", ConfigSHA256: "abc", MaxSilence: time.Hour, Decoder: f.decoder, Store: f.store, Journal: f.journal,
		Metrics: stream.NewMetrics(f.metrics, runner.NewMetrics(f.metrics)), Changed: func() { f.changes++ }, Log: slog.New(slog.DiscardHandler),
	})
	return f
}

// process processes payloads as messages.
func (f *processorFixture) process(payloads ...string) error {
	messages := make([]stream.Message, len(payloads))
	for i, p := range payloads {
		messages[i] = stream.Message{Topic: "roofs/one", Payload: []byte(p), At: now}
	}
	return f.Process(context.Background(), messages)
}

// recorded runs the processor around do, and returns the recorded runs.
func (f *processorFixture) recorded(t *testing.T, do func() error) []ingest.Run {
	t.Helper()
	if err := f.Run(t.Context(), func(context.Context) error { return do() }); err != nil {
		t.Fatal(err)
	}
	return f.journal.runs
}

func TestMessagesBecomeReadings(t *testing.T) {
	t.Parallel()
	f := newProcessor()
	runs := f.recorded(t, func() error { return errors.Join(f.process("61", "x", "62"), f.process("63")) })
	if diff := cmp.Diff([]float64{61, 62, 63}, f.store.values); diff != "" {
		t.Errorf("stored values (-want +got):\n%s", diff)
	}
	if f.decoder.commits != 2 {
		t.Errorf("%d commits, want 2", f.decoder.commits)
	}
	if f.changes != 2 {
		t.Errorf("%d changes, want 2", f.changes)
	}
	if len(runs) != 1 {
		t.Fatalf("%d runs, want 1", len(runs))
	}
	got := fmt.Sprint(runs[0].Outcome, runs[0].Received.Requests, runs[0].Received.Bytes, runs[0].Stored, runs[0].Rejected[ingest.BadNumber], runs[0].ConfigSHA256)
	if want := fmt.Sprint("done", 4, 7, 3, 1, "abc"); got != want {
		t.Errorf("got the run %s, want %s", got, want)
	}
}

// A store that fails has no part of the messages, which can be processed again.
func TestFailedMessagesAreNotCounted(t *testing.T) {
	t.Parallel()
	f := newProcessor()
	away := errors.New("ClickHouse is away")
	runs := f.recorded(t, func() error {
		f.store.failing = away
		if err := f.process("61"); !errors.Is(err, away) {
			t.Errorf("got the error %v, want %v", err, away)
		}
		if f.decoder.commits != 0 {
			t.Errorf("%d commits of a failed batch, want none", f.decoder.commits)
		}
		f.store.failing = nil
		return f.process("61")
	})
	if diff := cmp.Diff([]float64{61}, f.store.values); diff != "" {
		t.Errorf("stored values (-want +got):\n%s", diff)
	}
	if len(runs) != 1 || runs[0].Outcome != "done" || runs[0].Stored != 1 {
		t.Errorf("got the runs %+v, want one with one reading", runs)
	}
	if got := fixture.MetricValue(t, f.metrics, "vayu_source_store_errors_total"); got != 1 {
		t.Errorf("%g store errors, want 1", got)
	}
}

// A message that makes the decoder panic is rejected alone.
func TestPanicRejectsItsMessageOnly(t *testing.T) {
	t.Parallel()
	f := newProcessor()
	runs := f.recorded(t, func() error { return f.process("61", "panic", "62") })
	if diff := cmp.Diff([]float64{61, 62}, f.store.values); diff != "" {
		t.Errorf("stored values (-want +got):\n%s", diff)
	}
	if len(runs) != 1 || runs[0].Rejected[ingest.BadReply] != 1 || len(runs[0].Values) != 1 || runs[0].Values[0].Raw != "panic" {
		t.Errorf("got the runs %+v, want one that rejects the message", runs)
	}
	if got := fixture.MetricValue(t, f.metrics, "vayu_source_panics_total"); got != 2 { // in the batch, and alone
		t.Errorf("%g panics, want 2", got)
	}
}

// A lost connection is visible in the run until messages are stored again.
func TestLostConnectionIsRecorded(t *testing.T) {
	t.Parallel()
	f := newProcessor()
	runs := f.recorded(t, func() error {
		f.Connected(true)
		if got := fixture.MetricValue(t, f.metrics, "vayu_stream_connected"); got != 1 {
			t.Errorf("connected %g, want 1", got)
		}
		f.Connected(false)
		f.ConnectionFailed(errors.New("connection refused"))
		if got := fixture.MetricValue(t, f.metrics, "vayu_stream_connected"); got != 0 {
			t.Errorf("connected %g, want 0", got)
		}
		return nil
	})
	if len(runs) != 1 || runs[0].Outcome != "fetch_failed" || runs[0].Error != "connection refused" {
		t.Errorf("got the runs %+v, want one that failed", runs)
	}
	if got := fixture.MetricValue(t, f.metrics, "vayu_stream_connection_failures_total"); got != 1 {
		t.Errorf("%g connection failures, want 1", got)
	}
}
