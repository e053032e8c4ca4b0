package outbox

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/failurelog"
)

type metrics struct {
	relayed prometheus.Counter
	purged  prometheus.Counter

	reading, publishing, deleting, counting, purging *failurelog.Log
}

func newMetrics(o *Outbox, reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	failures := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "vayu_outbox_failures_total", Help: "Failed steps of the relay and the purge, by step; each is retried.",
	}, []string{"step"})
	m := &metrics{
		relayed: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_outbox_relayed_total", Help: "Events acknowledged by the publisher.",
		}),
		purged: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_outbox_purged_total", Help: "Events purged after their retention.",
		}),
	}
	step := func(name, what, doing, meanwhile string) *failurelog.Log {
		return failurelog.New(o.Log, "outbox: "+what, doing, meanwhile, failures.WithLabelValues(name))
	}
	const store = "the state store"
	m.reading = step("read", store, "reading events", "they wait")
	m.publishing = step("publish", "the publisher", "publishing events", "they wait")
	m.deleting = step("delete", store, "deleting published events", "others wait")
	m.counting = step("look", store, "counting unpublished events", "the last figures stand")
	m.purging = step("purge", store, "deleting old events", "they stay")
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vayu_outbox_waiting", Help: "Unpublished events; 100001 for more than 100000.",
	}, func() float64 { waiting, _ := o.Backlog(context.Background()); return float64(waiting) })
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vayu_outbox_oldest_seconds", Help: "Age of the oldest unpublished event, seconds.",
	}, func() float64 { _, oldest := o.Backlog(context.Background()); return oldest.Seconds() })
	return m
}
