package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// Received counts what a run received over HTTP or as messages of a stream, or read from a local file.
type Received struct {
	Requests int    `json:"requests"`    // HTTP requests, or messages of a stream; 0 for a local file
	Bytes    int64  `json:"bytes"`       // length of all bodies
	SHA256   string `json:"body_sha256"` // hash of all bodies in order, hexadecimal; "" without a body
}

// Exchange is a request of a fetch and its reply, or a received message, without secrets.
type Exchange struct {
	Request string        `json:"request"` // method and address
	Status  int           `json:"status"`  // status of the reply; 0 if no reply came
	Bytes   int           `json:"bytes"`   // length of the body
	Body    string        `json:"body"`    // first 2 KiB of the body; all of it with [Recorder.Whole]
	Header  http.Header   `json:"-"`       // headers of the reply; nil without [Recorder.Whole]
	Elapsed time.Duration `json:"elapsed_ns"`
	Error   string        `json:"error"`             // "" if the whole reply was received
	Message *MessageInfo  `json:"message,omitempty"` // nil for a request
}

// MessageInfo describes a received message that answers no request.
type MessageInfo struct {
	Topic    string    `json:"topic"`
	At       time.Time `json:"at"` // when it was received
	Retained bool      `json:"retained"`
}

// Recorder counts the requests and bodies of a fetch, and collects its fields and units. It is safe for concurrent use.
// Record, RecordFile, Field and Unit do nothing if the Recorder is nil.
type Recorder struct {
	// Kept is the largest number of exchanges that the recorder keeps.
	Kept int
	// Whole makes the recorder keep whole bodies and headers, and not only beginnings of bodies.
	Whole bool
	// Paths notes which of the fields that the source description (YAML) names occur in the records. It may be nil.
	Paths *Paths

	mu          sync.Mutex
	received    Received
	sum         hash.Hash
	exchanges   []Exchange
	fingerprint Fingerprint
}

type recorderKey struct{}

// WithRecorder returns a context whose fetches report to r.
func WithRecorder(ctx context.Context, r *Recorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, r)
}

// RecorderOf returns the recorder of a context, or nil.
func RecorderOf(ctx context.Context) *Recorder {
	r, _ := ctx.Value(recorderKey{}).(*Recorder)
	return r
}

type backgroundKey struct{}

// WithBackground returns a context for work that is not urgent, such as a backfill. Fetches with this context leave a
// part of the call budget to other fetches.
func WithBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// Background reports whether ctx is a context of [WithBackground], or derived from one.
func Background(ctx context.Context) bool { return ctx.Value(backgroundKey{}) != nil }

// Keeps reports whether the recorder keeps exchanges.
func (r *Recorder) Keeps() bool { return r != nil && r.Kept > 0 }

// KeepsWhole reports whether the recorder keeps exchanges with whole bodies.
func (r *Recorder) KeepsWhole() bool { return r.Keeps() && r.Whole }

// Record counts an exchange and its reply's body, and keeps the first r.Kept exchanges. `clean` removes secrets.
func (r *Recorder) Record(e Exchange, body []byte, clean func(string) string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received.Requests++
	r.add(body)
	r.keep(e, body, int64(len(body)), clean)
}

// RecordFile counts a request for a file of `size` bytes that begins with `head`. It does not count the bytes. The
// source counts them with [Recorder.Write], in the order in which it reads the files.
func (r *Recorder) RecordFile(e Exchange, head []byte, size int64, clean func(string) string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received.Requests++
	if !r.Whole && !utf8.Valid(head[:max(0, len(head)-utf8.UTFMax)]) {
		head = nil // the file is compressed, so its beginning is not text
	}
	r.keep(e, head, size, clean)
}

// keep keeps an exchange if the recorder has fewer than r.Kept exchanges.
func (r *Recorder) keep(e Exchange, body []byte, size int64, clean func(string) string) {
	if len(r.exchanges) < r.Kept {
		e.Bytes = int(size)
		if r.Whole {
			e.Body = clean(string(body))
		} else {
			e.Header = nil
			e.Body = clean(CutRaw(string(body[:min(len(body), maxRaw)])))
		}
		r.exchanges = append(r.exchanges, e)
	}
}

// add counts the bytes of a body, and adds them to the hash of all bodies.
func (r *Recorder) add(body []byte) {
	if r.sum == nil {
		r.sum = sha256.New()
	}
	r.sum.Write(body)
	r.received.Bytes += int64(len(body))
}

// Write counts bytes of a file and adds them to the hash. It implements [io.Writer].
func (r *Recorder) Write(part []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(part)
	return len(part), nil
}

// Received returns the counts so far.
func (r *Recorder) Received() Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	received := r.received
	if received.Bytes > 0 {
		received.SHA256 = hex.EncodeToString(r.sum.Sum(nil))
	}
	return received
}

// Exchanges returns the first [Recorder.Kept] exchanges.
func (r *Recorder) Exchanges() []Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.exchanges)
}
