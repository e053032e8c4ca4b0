package runner

import (
	"time"

	"vayu/ingest"
)

// StartStream sets the gauges of a stream, which has no scheduled runs. maxSilence is the largest normal age of its
// newest reading, or 0 if readings arrive at irregular times. Until the stream yields its first reading, the age counts
// from the time `now`.
func (m *Metrics) StartStream(source string, maxSilence time.Duration, now time.Time) {
	if maxSilence > 0 {
		m.maxSilence.WithLabelValues(source).Set(maxSilence.Seconds())
	}
	m.NewestStreamed(source, now)
}

// Streamed counts the readings of a stored batch of a stream.
func (m *Metrics) Streamed(source string, b *ingest.Batch) {
	m.batch(source, b)
}

// NewestStreamed sets the time of the newest stored reading of a stream.
func (m *Metrics) NewestStreamed(source string, at time.Time) {
	m.newest.WithLabelValues(source).Set(float64(at.Unix()))
}

// StreamState sets the outcome of a stream. Done means that the stream is connected and has stored every received
// message.
func (m *Metrics) StreamState(source string, is Outcome) {
	m.setLastOutcome(source, is)
	if is == StoreFailed {
		m.storeErrors.WithLabelValues(source).Inc()
	}
	if is == Done {
		m.lastSuccess.WithLabelValues(source).Set(float64(time.Now().UnixMilli()) / 1000)
	}
}

// Panicked counts a panic of a stream's decoder.
func (m *Metrics) Panicked(source string) { m.panics.WithLabelValues(source).Inc() }

// EndStream clears the gauges of a stream that no longer runs in this process.
func (m *Metrics) EndStream(source string) { m.reset(source) }
