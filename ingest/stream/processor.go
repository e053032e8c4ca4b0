package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/internal/failurelog"
	"vayu/internal/panics"
	"vayu/internal/sleep"
)

// Store stores batches of readings durably. It is idempotent.
type Store interface {
	Load(ctx context.Context, b *ingest.Batch) error
}

// Config configures a Processor. All fields except MaxSilence are required.
type Config struct {
	// Source is the name of the source. ConfigSHA256 is the hash of its configuration.
	Source, ConfigSHA256 string
	// MaxSilence is the largest normal age of the newest reading, or 0 if readings arrive at irregular times.
	MaxSilence time.Duration
	Decoder    Decoder
	Store      Store
	Journal    runner.Journal
	Metrics    *Metrics
	// Changed is called each time after readings were stored.
	Changed func()
	Log     *slog.Logger
}

// Processor stores the readings of messages. Process must be called from one goroutine.
type Processor struct {
	Config

	recorder  *Recorder
	storing   *failurelog.Log
	connected atomic.Bool
	newest    time.Time // end of the newest averaging interval that was stored since the start
}

// NewProcessor returns a Processor.
func NewProcessor(c Config) *Processor {
	return &Processor{
		Config: c, recorder: NewRecorder(c.Source, c.ConfigSHA256, c.Journal, c.Log),
		storing: failurelog.New(c.Log, "source "+c.Source+": ClickHouse", "storing readings", "messages wait at the broker", nil),
	}
}

// heartbeat is the interval at which a connected stream updates its metrics, even without messages.
const heartbeat = 15 * time.Second

// Run calls the function `receive` and returns the error of that call. `receive` must pass the received messages to
// Process. Meanwhile, Run records the runs, and updates the metrics of the source.
func (p *Processor) Run(ctx context.Context, receive func(context.Context) error) error {
	p.Metrics.start(p.Source, p.MaxSilence)
	defer p.Metrics.end(p.Source)
	beside, stop := context.WithCancel(context.WithoutCancel(ctx)) // the last batch is recorded, too
	var all sync.WaitGroup
	all.Go(func() { p.recorder.Run(beside) })
	all.Go(func() {
		for sleep.For(beside, heartbeat) {
			if p.connected.Load() && !p.storing.Failing() {
				p.Metrics.sources.StreamState(p.Source, runner.Done)
			}
		}
	})
	err := receive(ctx)
	stop()
	all.Wait()
	return err
}

// Connected sets whether the stream is connected to the broker.
func (p *Processor) Connected(is bool) {
	p.connected.Store(is)
	value := 0.0
	if is {
		value = 1
		p.Metrics.sources.StreamState(p.Source, runner.Done)
	}
	p.Metrics.connected.WithLabelValues(p.Source).Set(value)
}

// ConnectionFailed counts a failed or lost connection.
func (p *Processor) ConnectionFailed(err error) {
	p.Metrics.failures.WithLabelValues(p.Source).Inc()
	p.Metrics.sources.StreamState(p.Source, runner.FetchFailed)
	p.recorder.Lost(err)
}

// Repeated counts a received message that was stored before.
func (p *Processor) Repeated() {
	p.Metrics.messages.WithLabelValues(p.Source, string(Repeated)).Inc()
}

// Process stores the readings of messages, and returns nil once they are durable. It is idempotent, so the caller can
// process the same messages again after an error. A message for which the decoder panics is rejected, and the other
// messages are stored.
func (p *Processor) Process(ctx context.Context, messages []Message) error {
	err := panics.Catch(func() error { return p.process(ctx, messages) })
	panicked, is := errors.AsType[*panics.Error](err)
	if !is {
		return err
	}
	p.Metrics.sources.Panicked(p.Source)
	p.Log.ErrorContext(ctx, "panic", "source", p.Source, "panic", panicked.Value, "stack", string(panicked.Stack))
	if len(messages) > 1 {
		for i := range messages {
			if err := p.Process(ctx, messages[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	got := &Received{Messages: 1}
	got.Reject(ingest.BadReply, "", 1, messages[0].Payload)
	p.Metrics.messages.WithLabelValues(p.Source, string(Unreadable)).Inc()
	p.recorder.Done(got, messages[0].Payload)
	return nil
}

func (p *Processor) process(ctx context.Context, messages []Message) error {
	run := p.recorder.Begin()
	got, counts, err := p.store(ctx, run, messages)
	p.storing.Observe(ctx, err)
	if err != nil {
		p.Metrics.sources.StreamState(p.Source, runner.StoreFailed)
		p.recorder.Failed(runner.StoreFailed, err)
		return err
	}
	p.Decoder.Commit()
	for outcome, n := range counts {
		p.Metrics.messages.WithLabelValues(p.Source, string(outcome)).Add(float64(n))
	}
	p.Metrics.sources.StreamState(p.Source, runner.Done)
	if d, ok := p.Decoder.(interface{ Devices() (online, offline int) }); ok {
		online, offline := d.Devices()
		p.Metrics.devices.WithLabelValues(p.Source, "online").Set(float64(online))
		p.Metrics.devices.WithLabelValues(p.Source, "offline").Set(float64(offline))
	}
	if got.Newest.After(p.newest) {
		p.newest = got.Newest
		p.Metrics.sources.NewestStreamed(p.Source, p.newest)
	}
	bodies := make([][]byte, len(messages))
	for i := range messages {
		bodies[i] = messages[i].Payload
	}
	p.recorder.Done(got, bodies...)
	if got.Stored > 0 {
		p.Changed()
	}
	return nil
}

// store decodes messages and stores their readings.
func (p *Processor) store(ctx context.Context, run uint64, messages []Message) (*Received, map[Outcome]int, error) {
	batches, counts, err := p.Decoder.Decode(messages)
	defer func() {
		for _, b := range batches {
			b.Release()
		}
	}()
	if err != nil {
		return nil, nil, fmt.Errorf("decoding messages: %w", err)
	}
	got := &Received{Messages: len(messages)}
	for _, b := range batches {
		// A message without a value must not withdraw a stored reading, so Missing is dropped.
		b.Run, b.Missing = run, nil
		if err := p.Store.Load(ctx, b); err != nil {
			return nil, nil, err
		}
		got.add(b)
	}
	for _, b := range batches {
		p.Metrics.sources.Streamed(p.Source, b)
	}
	return got, counts, nil
}

// add adds the counts and the values of a stored batch to r, and the time of its newest reading.
func (r *Received) add(b *ingest.Batch) {
	r.Stored += b.Rows()
	for i := range b.Stations {
		if last := b.Stations[i].LastSeen; last.After(r.Newest) {
			r.Newest = last
		}
	}
	r.Rejected.Merge(b.Rejected)
	r.Values = append(r.Values, b.Values...)
}
