package outbox

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
)

// metrics is what an outbox counts, and what may cease to work.
type metrics struct {
	relayed prometheus.Counter
	purged  prometheus.Counter

	reading, publishing, deleting, looking, purging *failurelog.Outage
}

func newMetrics(o *Outbox, reg prometheus.Registerer) (*metrics, error) {
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vayu_outbox_failures_total", Help: "Failed steps of bringing events on, which are tried again, and of deleting old ones.",
	}, []string{"step"})
	m := &metrics{
		relayed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_outbox_relayed_total", Help: "Events that were brought on and are safe there.",
		}),
		purged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_outbox_purged_total", Help: "Events that were deleted because their time was over.",
		}),
	}
	step := func(name, what, doing, meanwhile string) *failurelog.Outage {
		return failurelog.New(o.Log, "outbox: "+what, doing, meanwhile, failures.WithLabelValues(name))
	}
	const store = "the state store"
	m.reading = step("read", store, "reading events", "they wait")
	m.publishing = step("publish", "the publisher", "bringing events on", "they wait")
	m.deleting = step("delete", store, "forgetting events that were brought on", "others wait")
	m.looking = step("look", store, "counting what waits", "the last figures stand")
	m.purging = step("purge", store, "deleting old events", "they stay")
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		failures, m.relayed, m.purged,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_outbox_waiting", Help: "Events that wait for the relay; 100001 for more than 100000.",
		}, func() float64 { waiting, _ := o.Backlog(); return float64(waiting) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_outbox_oldest_seconds", Help: "How long the oldest event that waits for the relay has done so, seconds.",
		}, func() float64 { _, oldest := o.Backlog(); return oldest.Seconds() }),
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of the outbox: %w", err)
		}
	}
	return m, nil
}
