package runner

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/ingest"
)

// Outcome is the result of one run of a source. It is a label of the metric vayu_source_runs_total.
type Outcome string

// The outcomes of a run.
const (
	Done        Outcome = "done"         // everything fetched and stored
	FetchFailed Outcome = "fetch_failed" // the source returned an error
	TimedOut    Outcome = "timed_out"    // the fetch exceeded its timeout
	Refused     Outcome = "refused"      // the source rejected its whole input, see BatchError
	Panicked    Outcome = "panicked"     // the source panicked, and the runner recovered
	StoreFailed Outcome = "store_failed" // ClickHouse rejected a batch or was unreachable
	BreakerOpen Outcome = "breaker_open" // the run was skipped after repeated failures
)

// Metrics counts runs and readings of sources. All runners of a process share one Metrics. The comments of the fields
// name the labels.
type Metrics struct {
	runs        *prometheus.CounterVec   // source, outcome
	seconds     *prometheus.HistogramVec // source
	readings    *prometheus.CounterVec   // source, outcome, reason
	positions   *prometheus.CounterVec   // source, reason
	refused     *prometheus.CounterVec   // source, reason
	panics      *prometheus.CounterVec   // source
	storeErrors *prometheus.CounterVec   // source
	lastSuccess *prometheus.GaugeVec     // source
	breaker     *prometheus.GaugeVec     // source
	backlog     *prometheus.GaugeVec     // source
	newest      *prometheus.GaugeVec     // source
	interval    *prometheus.GaugeVec     // source
	maxSilence  *prometheus.GaugeVec     // source
	outcome     *prometheus.GaugeVec     // source, outcome
	watermark   *prometheus.GaugeVec     // source
	partitions  *prometheus.GaugeVec     // source
	failing     *prometheus.GaugeVec     // source
	ahead       *prometheus.CounterVec   // source
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	auto := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return auto.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"source"})
	}
	return &Metrics{
		runs: counter("vayu_source_runs_total", "Runs of a source by outcome.", "source", "outcome"),
		seconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_source_run_seconds", Help: "Time to fetch and store one window.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 14), // 50 ms to 7 min
		}, []string{"source"}),
		readings:    counter("vayu_readings_total", "Values by outcome (stored, rejected) and reason.", "source", "outcome", "reason"),
		positions:   counter("vayu_station_positions_dropped_total", "Rejected positions of stations by reason; the readings are stored.", "source", "reason"),
		refused:     counter("vayu_source_refused_total", "Inputs refused as a whole, by reason.", "source", "reason"),
		panics:      counter("vayu_source_panics_total", "Recovered panics of a source.", "source"),
		storeErrors: counter("vayu_source_store_errors_total", "Failed attempts to store a batch.", "source"),
		lastSuccess: gauge("vayu_source_last_success_timestamp_seconds", "Unix time of the last successful run."),
		breaker:     gauge("vayu_source_breaker_state", "0 closed, 1 half open, 2 open."),
		backlog:     gauge("vayu_source_backlog_seconds", "Length of the backfill that remains."),
		newest:      gauge("vayu_source_newest_reading_timestamp_seconds", "Unix time of the newest stored reading."),
		interval:    gauge("vayu_source_interval_seconds", "Time between two scheduled runs."),
		maxSilence:  gauge("vayu_source_max_silence_seconds", "Largest normal age of the newest reading; absent for sources without a rhythm."),
		watermark:   gauge("vayu_source_watermark_timestamp_seconds", "Unix time up to which the readings are fetched."),
		partitions:  gauge("vayu_source_partitions", "Known partitions of the source, such as sensors; 0 for a source without partitions."),
		failing:     gauge("vayu_source_partitions_failing", "Partitions whose last fetch failed."),
		ahead:       counter("vayu_source_watermark_ahead_total", "Watermarks in the future, in place of which the current time counted.", "source"),
		outcome: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_source_outcome", Help: "1 for the outcome of the last run of a source, 0 for the others.",
		}, []string{"source", "outcome"}),
	}
}

// outcomes lists every outcome. Each source has one gauge for each outcome.
var outcomes = []Outcome{Done, FetchFailed, TimedOut, Refused, Panicked, StoreFailed, BreakerOpen}

// setLastOutcome sets the outcome gauge of the last run.
func (m *Metrics) setLastOutcome(source string, is Outcome) {
	for _, one := range outcomes {
		value := 0.0
		if one == is {
			value = 1
		}
		m.outcome.WithLabelValues(source, string(one)).Set(value)
	}
}

// feed sets the gauges of a feed that depend only on its settings. `interval` is the longest time between two runs.
func (m *Metrics) feed(f Feed, interval time.Duration) {
	m.interval.WithLabelValues(f.Name).Set(interval.Seconds())
	silence := f.MaxSilence
	if silence == 0 {
		silence = max(defaultMaxSilence, 3*interval)
	}
	if silence > 0 {
		m.maxSilence.WithLabelValues(f.Name).Set(silence.Seconds())
	}
}

// reset removes the gauges of a source that no longer runs in this process, and sets the breaker's gauge to 0 (closed).
// It keeps gauges whose values stay valid, such as lastSuccess.
func (m *Metrics) reset(source string) {
	m.outcome.DeletePartialMatch(prometheus.Labels{"source": source})
	m.backlog.DeleteLabelValues(source)
	m.newest.DeleteLabelValues(source)
	m.watermark.DeleteLabelValues(source)
	m.partitions.DeleteLabelValues(source)
	m.failing.DeleteLabelValues(source)
	m.breaker.WithLabelValues(source).Set(0)
}

func (m *Metrics) batch(source string, b *ingest.Batch) {
	m.readings.WithLabelValues(source, "stored", "").Add(float64(b.Count()))
	for reason, n := range b.Rejected {
		if reason.ConcernsPosition() {
			m.positions.WithLabelValues(source, string(reason)).Add(float64(n))
			continue
		}
		m.readings.WithLabelValues(source, "rejected", string(reason)).Add(float64(n))
	}
}
