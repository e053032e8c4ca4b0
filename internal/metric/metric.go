// Package metric registers the metrics of a part of the service.
package metric

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers the metrics of the named part. It fails if one of them is already
// registered. It does nothing if reg is nil.
func Register(reg prometheus.Registerer, part string, metrics ...prometheus.Collector) error {
	if reg == nil {
		return nil
	}
	for _, m := range metrics {
		if err := reg.Register(m); err != nil {
			return fmt.Errorf("registering metrics of %s: %w", part, err)
		}
	}
	return nil
}
