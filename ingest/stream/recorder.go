// Package stream has the common parts of sources that receive messages: of Kafka topics and MQTT subscriptions.
package stream

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/internal/failurelog"
	"vayu/internal/sleep"
)

const (
	// runLength is the duration of a run. The run ID of a reading therefore identifies the ten minutes in which its
	// message was processed.
	runLength = 10 * time.Minute
	// recordEvery is the interval at which a run in progress is recorded. If the process is killed, the counts of at
	// most this interval are lost. No reading is lost.
	recordEvery = 15 * time.Second
	// maxPending is the largest number of ended runs that wait while writes to the journal fail. If more runs end, the
	// oldest runs are dropped.
	maxPending = 100
	// lastRecord limits the time to write the last run when the service stops.
	lastRecord = 5 * time.Second
)

// Received has the results of one batch of messages.
type Received struct {
	Messages int
	Stored   int
	Newest   time.Time // end of the newest stored averaging interval; zero for none
	Rejected ingest.Rejections
	Values   []ingest.RejectedValue

	kept ingest.Rejections // numbers of values in Values, by reason
}

// Reject counts a rejected value, and keeps the first [ingest.MaxKept] of each reason except [ingest.MissingValue].
// `line` is the number of the value in its message, from 1.
func (r *Received) Reject(reason ingest.Reason, field string, line int, raw []byte) {
	r.Rejected.Add(reason, 1)
	if reason == ingest.MissingValue || r.kept[reason] == ingest.MaxKept {
		return
	}
	r.kept.Add(reason, 1)
	r.Values = append(r.Values, ingest.RejectedValue{Reason: reason, Field: field, Line: int64(line), Raw: ingest.CutRaw(string(raw[:min(len(raw), 4<<10)]))})
}

// Recorder records the messages of one source as runs of ten minutes. After a run, the next message or lost connection
// begins a new run. One goroutine calls Begin, and then Done or Failed.
type Recorder struct {
	source  string
	config  string // SHA-256 of the source's configuration
	journal runner.Journal
	failing *failurelog.Log

	mu      sync.Mutex
	open    *ingest.Run // the current run; nil for none
	body    *ingest.Recorder
	busy    bool         // between Begin and Done or Failed
	changed bool         // the open run differs from its row in the journal
	ended   []ingest.Run // ended runs that are not yet in the journal
}

// NewRecorder returns a recorder. `config` is the SHA-256 of the source's configuration, or "" for none.
func NewRecorder(source, config string, journal runner.Journal, log *slog.Logger) *Recorder {
	return &Recorder{
		source: source, config: config, journal: journal,
		failing: failurelog.New(log, "the journal of "+source, "recording runs", "they are recorded later", nil),
	}
}

// Begin returns the ID of the run to which the next processed messages belong. It begins a run if none is open.
func (r *Recorder) Begin() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.start()
	r.busy = true
	return r.open.ID
}

// start begins a run if none is open. The caller has locked r.mu.
func (r *Recorder) start() {
	r.endOld()
	if r.open == nil {
		start := time.Now()
		r.open = &ingest.Run{
			ID: ingest.NewRunID(start), Source: r.source, Kind: ingest.LiveRun, ConfigSHA256: r.config,
			Window: ingest.Window{From: start, To: start}, Outcome: string(runner.Done),
		}
		r.body = new(ingest.Recorder)
	}
}

// endOld ends the open run if it has lasted for runLength and r.busy is false. The caller has locked r.mu.
func (r *Recorder) endOld() {
	if r.open == nil || r.busy || time.Since(r.open.Started()) < runLength {
		return
	}
	if r.changed {
		r.ended = append(r.ended, r.snapshot())
		r.ended = r.ended[max(0, len(r.ended)-maxPending):]
	}
	r.open, r.changed = nil, false
}

// Done adds processed messages to the current run, and sets its outcome to done. `bodies` are their bodies, in order.
func (r *Recorder) Done(got *Received, bodies ...[]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy, r.changed = false, true
	run := r.open
	run.Outcome, run.Error = string(runner.Done), ""
	run.Received.Requests += got.Messages
	for _, body := range bodies {
		_, _ = r.body.Write(body) // never fails
	}
	run.Stored += got.Stored
	if got.Newest.After(run.Newest) {
		run.Newest = got.Newest
	}
	run.AddRejected(&ingest.Batch{Rejected: got.Rejected, Values: got.Values})
}

// Failed sets the outcome of the current run after messages could not be processed. Done resets the outcome.
func (r *Recorder) Failed(outcome runner.Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy, r.changed = false, true
	r.open.Outcome, r.open.Error = string(outcome), err.Error()
}

// Lost sets the outcome of the current run after a connection has failed. It begins a run if none is open. The next
// Done resets the outcome. Lost is safe for concurrent use.
func (r *Recorder) Lost(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.start()
	r.changed = true
	r.open.Outcome, r.open.Error = string(runner.FetchFailed), err.Error()
}

// snapshot returns a copy of the open run, with the present time as its end. The caller has locked r.mu.
func (r *Recorder) snapshot() ingest.Run {
	run := *r.open
	run.Rejected = maps.Clone(run.Rejected) // later messages change the map of the open run
	run.Window.To = time.Now()
	run.Elapsed = run.Window.To.Sub(run.Window.From)
	body := r.body.Received()
	run.Received.Bytes, run.Received.SHA256 = body.Bytes, body.SHA256
	return run
}

// Run writes all new and changed runs to the journal every recordEvery until ctx ends. Then it writes them once more.
func (r *Recorder) Run(ctx context.Context) {
	for sleep.For(ctx, recordEvery) {
		r.record(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRecord)
	defer cancel()
	r.record(last)
}

// record writes all new and changed runs to the journal. After an error, it keeps them for its next call.
func (r *Recorder) record(ctx context.Context) {
	r.mu.Lock()
	r.endOld()
	runs := r.ended
	r.ended = nil
	ended := len(runs)
	if r.changed {
		runs = append(runs, r.snapshot())
	}
	r.changed = false
	r.mu.Unlock()
	if len(runs) == 0 {
		return
	}
	err := r.journal.Record(ctx, runs)
	r.failing.Observe(ctx, err)
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(runs[:ended:ended], r.ended...)
	r.changed = r.open != nil
}
