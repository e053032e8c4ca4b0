// Package status has the facts about a running service that its probes, metrics and `vayu doctor` report.
package status

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// SourceStatus is the state of a source of readings. It can explain why the newest readings are old.
type SourceStatus struct {
	Outcome     string   `json:"outcome,omitempty"`      // outcome of the last run, as in the metric vayu_source_outcome
	LastSuccess string   `json:"last_success,omitempty"` // RFC 3339; absent if none since the start
	Breaker     string   `json:"breaker,omitempty"`      // "open" after too many failures, until a fetch succeeds
	Refused     []string `json:"refused,omitempty"`      // reasons for which inputs were rejected since the start
}

// SourcesOf derives the status of each source from its metrics. The keys of the map are names of sources.
func SourcesOf(g prometheus.Gatherer) map[string]*SourceStatus {
	out := map[string]*SourceStatus{}
	families, err := g.Gather()
	if err != nil && len(families) == 0 {
		return out
	}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "vayu_source_") {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := labelsOf(m)
			if out[labels["source"]] == nil {
				out[labels["source"]] = &SourceStatus{}
			}
			out[labels["source"]].note(family.GetName(), labels, m)
		}
	}
	return out
}

func (s *SourceStatus) note(name string, labels map[string]string, m *dto.Metric) {
	switch name {
	case "vayu_source_outcome":
		if m.GetGauge().GetValue() == 1 {
			s.Outcome = labels["outcome"]
		}
	case "vayu_source_last_success_timestamp_seconds":
		s.LastSuccess = time.Unix(int64(m.GetGauge().GetValue()), 0).UTC().Format(time.RFC3339)
	case "vayu_source_breaker_state":
		if m.GetGauge().GetValue() > 0 {
			s.Breaker = "open"
		}
	case "vayu_source_refused_total":
		if m.GetCounter().GetValue() > 0 {
			s.Refused = append(s.Refused, labels["reason"])
		}
	}
}

func labelsOf(m *dto.Metric) map[string]string {
	all := map[string]string{}
	for _, pair := range m.GetLabel() {
		all[pair.GetName()] = pair.GetValue()
	}
	return all
}
