package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/array"

	"vayu/schema/air"
)

// RunKind is the kind of a run of a source: live, backfill or import.
type RunKind int8

// The kinds of runs, numbered as in the table source_run.
const (
	LiveRun     RunKind = 1 // the newest readings, on schedule
	BackfillRun RunKind = 2 // a slice of the history
	ImportRun   RunKind = 3 // a file, by command
)

// Run describes one run of a source: a row of the table source_run.
type Run struct {
	// ID is the start of the run in microseconds since 1970. The column `run` of each reading has the ID of the run
	// that fetched it.
	ID     uint64
	Source string
	Kind   RunKind
	Window Window
	// ConfigSHA256 is the SHA-256 of the source's configuration, hexadecimal; "" if it has none.
	ConfigSHA256 string
	Elapsed      time.Duration
	Outcome      string // label of the metric vayu_source_runs_total
	Error        string // "" for none; without secrets

	Received    Received
	Fingerprint Fingerprint
	Stored      int // readings and bulletins
	Withdrawn   int // stored readings that the source now reports as missing
	// Newest is the end of the averaging interval of the newest stored reading; zero for
	// none.
	Newest time.Time
	// Hours counts the stored readings by the hour in which their averaging intervals end. A key is the end of the hour
	// in Unix seconds. Hours older than recentHours are not counted.
	Hours    map[int64]int
	Rejected Rejections
	// Values are the first [MaxKept] rejected values of each reason, except [MissingValue].
	Values []RejectedValue

	kept Rejections // counts of Values
}

// Add adds the counts of a stored batch. It skips the rejected values of a batch that an earlier run fetched, because
// that run has them.
func (r *Run) Add(b *Batch) {
	r.Stored += b.Count()
	r.Withdrawn += b.Withdrawn
	for i := range b.Stations {
		if last := b.Stations[i].LastSeen; last.After(r.Newest) {
			r.Newest = last
		}
	}
	r.countHours(b)
	if b.Run == r.ID {
		r.AddRejected(b)
	}
}

const (
	// recentHours is the largest age of the hours in [Run.Hours].
	recentHours = 8 * 24 * time.Hour
	hourSeconds = 60 * 60
	// indianHour is the offset of Indian hours from UTC hours, in seconds. Indian hours end at hh:30 UTC.
	indianHour = hourSeconds / 2
)

// countHours counts the readings of a batch by hour.
func (r *Run) countHours(b *Batch) {
	if b.Rows() == 0 {
		return
	}
	since := r.Started().Add(-recentHours).Unix()
	for _, t := range b.Readings.Column(air.ReadingAt).(*array.Timestamp).TimestampValues() {
		at := int64(t)
		if at <= since {
			continue
		}
		if r.Hours == nil {
			r.Hours = make(map[int64]int)
		}
		r.Hours[HourEnd(at)]++
	}
}

// HourEnd returns the end of the Indian hour that contains the end of an averaging interval. Both are Unix seconds. An
// interval that ends exactly with an hour belongs to that hour.
func HourEnd(at int64) int64 {
	return (at+indianHour-1)/hourSeconds*hourSeconds + indianHour
}

// AddRejected adds the rejected values of a batch that was not stored.
func (r *Run) AddRejected(b *Batch) {
	r.Rejected.Merge(b.Rejected)
	for _, v := range b.Values {
		if r.kept[v.Reason] < MaxKept {
			r.kept.Add(v.Reason, 1)
			r.Values = append(r.Values, v)
		}
	}
}

// NewRunID returns the ID of a run that starts now.
func NewRunID(now time.Time) uint64 { return uint64(now.UnixMicro()) }

// Started returns the start of the run in UTC.
func (r *Run) Started() time.Time { return time.UnixMicro(int64(r.ID)).UTC() }

// RejectedValue is a rejected value, line or record, as the source sent it.
type RejectedValue struct {
	Reason Reason `json:"reason"`
	Field  string `json:"field"` // parameter, field or column of the value; "" if the whole record was rejected
	// Station is the station of the value; "" if the source rejected the record before it knew the station.
	Station string `json:"station"`
	Line    int64  `json:"line"` // number of the record in the run, or line of the file, from 1; 0 if unknown
	Raw     string `json:"raw"`  // text of the record, at most maxRaw bytes of UTF-8
}

const (
	// MaxKept is the largest number of rejected values that a run keeps for each reason. A run only counts the others.
	MaxKept = 100
	// maxRaw is the largest length of [RejectedValue.Raw], in bytes.
	maxRaw = 2 << 10
)

// CutRaw copies the first 2 KiB of a text for [RejectedValue.Raw]. It drops bytes that are not UTF-8.
func CutRaw(text string) string {
	if len(text) > maxRaw {
		text = text[:maxRaw]
	}
	return strings.Clone(strings.ToValidUTF8(text, ""))
}

// Received counts what a run received over HTTP, or read from a file.
type Received struct {
	Requests int    `json:"requests"`    // HTTP requests; 0 for a file
	Bytes    int64  `json:"bytes"`       // of all bodies
	SHA256   string `json:"body_sha256"` // of all bodies in order, hexadecimal; "" without a body
}

// Exchange is a request of a fetch and its reply, or a received message, without secrets.
type Exchange struct {
	Request string        `json:"request"` // method and address
	Status  int           `json:"status"`  // of the reply; 0 if none came
	Bytes   int           `json:"bytes"`   // of the body
	Body    string        `json:"body"`    // first 2 KiB of the body; all of it with [Recorder.Whole]
	Header  http.Header   `json:"-"`       // of the reply; nil without [Recorder.Whole]
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
// The methods that record something do nothing if the Recorder is nil.
type Recorder struct {
	// Kept is the largest number of exchanges that the recorder keeps.
	Kept int
	// Whole makes the recorder keep whole bodies and headers, and not only beginnings of bodies.
	Whole bool
	// Paths collects the paths of a description; nil if the caller does not want them.
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

// WithBackground returns a context for work that is not urgent, such as a backfill. Its fetches leave a part of the
// call budget to other fetches.
func WithBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// Background reports whether ctx is one of [WithBackground].
func Background(ctx context.Context) bool { return ctx.Value(backgroundKey{}) != nil }

// Keeps reports whether the recorder keeps exchanges.
func (r *Recorder) Keeps() bool { return r != nil && r.Kept > 0 }

// KeepsWhole reports whether the recorder keeps exchanges with whole bodies.
func (r *Recorder) KeepsWhole() bool { return r.Keeps() && r.Whole }

// Record counts an exchange and the body of its reply. It sets e.Bytes and e.Body. clean removes secrets from a text.
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

// RecordFile counts a request for a file of size bytes. head is the beginning of the file. RecordFile does not count
// the bytes. The source counts them with [Recorder.Write], in the order in which it reads the files.
func (r *Recorder) RecordFile(e Exchange, head []byte, size int64, clean func(string) string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received.Requests++
	if !r.Whole && !utf8.Valid(head[:max(0, len(head)-utf8.UTFMax)]) {
		head = nil // compressed
	}
	r.keep(e, head, size, clean)
}

// keep keeps an exchange if the recorder has fewer than r.Kept.
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

// add counts bytes and adds them to the hash.
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
