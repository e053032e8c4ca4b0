package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"sync"
	"time"
)

// RunKind is the kind of a run of a source: live, backfill or import.
type RunKind int8

// The kinds, numbered as in the table source_run.
const (
	LiveRun     RunKind = 1 // the newest readings, on schedule
	BackfillRun RunKind = 2 // a slice of the history
	ImportRun   RunKind = 3 // a file, by command
)

// Run describes one run of a source: a row of the table source_run.
type Run struct {
	// ID is the start of the run in microseconds since 1970. Each reading of the run has
	// it in the column `run`.
	ID      uint64
	Source  string
	Kind    RunKind
	Window  Window
	Elapsed time.Duration
	Outcome string // label of the metric vayu_source_runs_total
	Error   string // "" for none; without secrets

	Received  Received
	Stored    int
	Withdrawn int // stored readings that the source now reports as missing
	Rejected  Rejections
	// Values are the first [maxKept] rejected values of each reason but [MissingValue].
	Values []RejectedValue
}

// NewRunID returns the ID of a run that starts now.
func NewRunID(now time.Time) uint64 { return uint64(now.UnixMicro()) }

// Started returns the start of the run in UTC.
func (r *Run) Started() time.Time { return time.UnixMicro(int64(r.ID)).UTC() }

// RejectedValue is a rejected value, line or record, as the source sent it.
type RejectedValue struct {
	Reason Reason
	Field  string // parameter, field or column of the value; "" if the whole record was rejected
	Line   int64  // number of the record in the run, or line of the file, from 1; 0 if unknown
	Raw    string // text of the record, at most maxRaw bytes of UTF-8
}

const (
	// maxKept is how many rejected values of each reason a run keeps. The others are only
	// counted.
	maxKept = 100
	// maxRaw is the largest length of [RejectedValue.Raw], in bytes.
	maxRaw = 2 << 10
)

// cutRaw copies the first maxRaw bytes of a text and removes what is not UTF-8.
func cutRaw(text string) string {
	if len(text) > maxRaw {
		text = text[:maxRaw]
	}
	return strings.Clone(strings.ToValidUTF8(text, ""))
}

// Received counts what a run received over HTTP, or read from a file.
type Received struct {
	Requests int    // HTTP requests; 0 for a file
	Bytes    int64  // of all bodies
	SHA256   string // of all bodies in order, hexadecimal; "" without a body
}

// Recorder counts the requests and bodies of a fetch. It is safe for concurrent use. A
// nil Recorder counts nothing.
type Recorder struct {
	mu       sync.Mutex
	received Received
	sum      hash.Hash
}

type recorderKey struct{}

// WithRecorder returns a context whose requests and bodies are counted by r.
func WithRecorder(ctx context.Context, r *Recorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, r)
}

// RecorderOf returns the recorder of a context, or nil.
func RecorderOf(ctx context.Context) *Recorder {
	r, _ := ctx.Value(recorderKey{}).(*Recorder)
	return r
}

// Request counts a request.
func (r *Recorder) Request() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received.Requests++
}

// Body counts a body and adds it to the hash.
func (r *Recorder) Body(body []byte) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sum == nil {
		r.sum = sha256.New()
	}
	r.sum.Write(body)
	r.received.Bytes += int64(len(body))
}

// Received returns the counts so far.
func (r *Recorder) Received() Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	received := r.received
	if r.sum != nil {
		received.SHA256 = hex.EncodeToString(r.sum.Sum(nil))
	}
	return received
}
