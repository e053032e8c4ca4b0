package ingest

import (
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"

	"vayu/schema/air"
)

// RunKind is the kind of a run of a source: live, backfill or import.
type RunKind int8

// The kinds of runs, numbered as in the table source_run.
const (
	LiveRun     RunKind = 1 // the newest readings, on schedule or from a stream
	BackfillRun RunKind = 2 // past readings
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
	// ConfigSHA256 is the hexadecimal SHA-256 of the source's configuration, or "" if it has none.
	ConfigSHA256 string
	Elapsed      time.Duration
	Outcome      string // label of the metric vayu_source_runs_total
	Error        string // "" for none; without secrets

	Received    Received
	Fingerprint Fingerprint
	Stored      int // number of stored readings and bulletins
	Withdrawn   int // number of stored readings that the source now reports as missing
	// Newest is the end of the averaging interval of the newest stored reading, or zero if there is none.
	Newest time.Time
	// Hours counts the stored readings by the hour in which their averaging intervals end. A key is the end of the hour
	// in Unix seconds. Hours older than recentHours are not counted.
	Hours    map[int64]int
	Rejected Rejections
	// Values are the first [MaxKept] rejected values of each reason, except [MissingValue].
	Values []RejectedValue

	kept Rejections // numbers of values in Values, by reason
}

// Add adds the counts of a stored batch. It skips the rejected values of a batch that an earlier run fetched, because
// that run has counted them.
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

// countHours counts the readings of a batch in r.Hours, except those older than recentHours.
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
		r.Hours[HourEndUnix(at)]++
	}
}

// HourEndUnix returns the end of the Indian hour that contains the end of an averaging interval. Both are Unix
// seconds. An interval that ends exactly with an hour belongs to that hour.
func HourEndUnix(at int64) int64 {
	return (at+indianHour-1)/hourSeconds*hourSeconds + indianHour
}

// AddRejected adds only the rejected values of a batch. The runner calls it for a batch that was not stored.
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
	// Station is the station of the value, or "" if the source rejected the record before it knew the station.
	Station string `json:"station"`
	Line    int64  `json:"line"` // number of the record in the run, or line of the file, from 1; 0 if unknown
	Raw     string `json:"raw"`  // text of the record, at most maxRaw bytes of UTF-8
}

const (
	// MaxKept is the largest number of rejected values that a run keeps for each reason. A run only counts the rest.
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
