package dispatch

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/dispatch/delivery"
	"vayu/dispatch/sender"
	"vayu/internal/failurelog"
	"vayu/schema"
)

type metrics struct {
	attempts *prometheus.CounterVec
	finished *prometheus.CounterVec
	took     prometheus.Histogram
	delay    prometheus.Histogram
	stale    prometheus.Counter
	released prometheus.Counter
	older    prometheus.Counter
	failures *prometheus.CounterVec

	// Each failure log belongs to an operation on the store. It reports when the operation begins to fail, and when it has
	// recovered.
	claims, discoveries, records, numbers *failurelog.Log
}

func newMetrics(s *Service, reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	m := &metrics{
		attempts: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_webhook_attempts_total", Help: "Attempts at deliveries, by the stage in which they ended; acknowledged is a 2xx.",
		}, []string{"stage"}),
		finished: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_webhook_deliveries_total", Help: "Deliveries that have ended, by state.",
		}, []string{"state"}),
		took: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "vayu_webhook_attempt_seconds", Help: "Duration of attempts.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5},
		}),
		delay: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "vayu_webhook_wait_seconds", Help: "Delay between the due time and the start of acknowledged attempts.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 60, 600},
		}),
		stale: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_webhook_stale_outcomes_total", Help: "Outcomes not recorded because another instance held the lease.",
		}),
		released: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_webhook_released_total", Help: "Leased deliveries released because they could not start before the lease expired.",
		}),
		older: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_webhook_older_total", Help: "Events not delivered to a webhook because they are older than the webhook.",
		}),
		failures: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_webhook_store_failures_total", Help: "Failed operations on the state store, by operation.",
		}, []string{"doing"}),
	}
	failures := func(doing, meanwhile string) *failurelog.Log {
		return failurelog.New(s.Log, "webhooks: the state store", doing, meanwhile, m.failures.WithLabelValues(doing))
	}
	for _, stage := range stages { // creates all series at the start, so that their rates include the first failure
		m.attempts.WithLabelValues(stage)
	}
	for _, state := range schema.DeliveryStates[1:] {
		m.finished.WithLabelValues(string(state))
	}
	m.claims = failures("claim", "due deliveries wait")
	m.discoveries = failures("look", "deliveries of other instances wait")
	m.records = failures("record", "attempts are kept in memory")
	m.numbers = failures("number", "deliveries with numbers in clear wait")
	gauge := func(name, help string, of func(lanes, buffered, inFlight int) int) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(of(s.queue.Size()))
		})
	}
	gauge("vayu_webhook_endpoints", "Endpoints with a lane on this instance.", func(lanes, _, _ int) int { return lanes })
	gauge("vayu_webhook_held", "Deliveries in memory that wait for their attempt.", func(_, buffered, _ int) int { return buffered })
	gauge("vayu_webhook_in_flight", "Attempts in flight.", func(_, _, inFlight int) int { return inFlight })
	return m
}

// acknowledged is the stage of a successful attempt. Only metrics have this stage.
const acknowledged = "acknowledged"

var stages = []string{
	string(schema.StageDNS), string(schema.StageConnect), string(schema.StageTLS), string(schema.StageWrite),
	string(schema.StageWait), string(schema.StageStatus), acknowledged,
}

// attempted counts an attempt by the stage in which it ended, and observes its duration.
func (m *metrics) attempted(r *sender.Result) {
	stage := string(r.Stage)
	if r.OK() {
		stage = acknowledged
	}
	m.attempts.WithLabelValues(stage).Inc()
	m.took.Observe(r.Duration.Seconds())
}

// recorded counts deliveries that have ended, and measures the delay of acknowledged ones.
func (m *metrics) recorded(batch []delivery.Outcome) {
	for i := range batch {
		o := &batch[i]
		if o.Result.OK() { // failed attempts do not count, because retries at failing endpoints are late by design
			m.delay.Observe(max(0, o.Result.SentAt.Sub(o.Row.DueAt).Seconds()))
		}
		if o.State != schema.DeliveryWaiting {
			m.finished.WithLabelValues(string(o.State)).Inc()
		}
	}
}
