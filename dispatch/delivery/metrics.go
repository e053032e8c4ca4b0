package delivery

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what the service counts.
type metrics struct {
	cancelled, purged, overflowed, failures prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		cancelled:  counter("vayu_deliveries_cancelled_total", "Deliveries that waited for a subscription that was deleted."),
		purged:     counter("vayu_deliveries_purged_total", "Deliveries that were deleted because they had been finished for 30 days."),
		overflowed: counter("vayu_deliveries_overflowed_total", "Deliveries that failed because more waited for their webhook than may."),
		failures:   counter("vayu_deliveries_cleaning_failures_total", "Times that cleaning up failed and was put off."),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.cancelled, m.purged, m.overflowed, m.failures} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of deliveries: %w", err)
		}
	}
	return m, nil
}
