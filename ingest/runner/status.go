package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Status is the state of a source of readings, which can explain why its newest readings are old.
type Status struct {
	Outcome     Outcome  `json:"outcome,omitempty"`      // outcome of the last run, as in the metric vayu_source_outcome
	LastSuccess string   `json:"last_success,omitempty"` // RFC 3339; absent if none since the start
	Breaker     string   `json:"breaker,omitempty"`      // "open" after too many failures, until a fetch succeeds
	Refused     []string `json:"refused,omitempty"`      // reasons for which inputs were rejected since the start
}

// StatusOf reads the status of each source from the metrics of this process. The keys of the map are names of sources.
func StatusOf(g prometheus.Gatherer) map[string]*Status {
	out := map[string]*Status{}
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
			if labels["source"] == "" { // a metric of all sources
				continue
			}
			if out[labels["source"]] == nil {
				out[labels["source"]] = &Status{}
			}
			out[labels["source"]].note(family.GetName(), labels, m)
		}
	}
	return out
}

func (s *Status) note(name string, labels map[string]string, m *dto.Metric) {
	switch name {
	case "vayu_source_outcome":
		if m.GetGauge().GetValue() == 1 {
			s.Outcome = Outcome(labels["outcome"])
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

// remedies tell an operator how to fix a failing source, by the outcome of its last run.
var remedies = map[Outcome]string{
	FetchFailed: "its reply is invalid or missing: vayu source test NAME shows the error",
	TimedOut:    "it answers too slowly: vayu source test NAME shows how slowly",
	Refused:     "its input was refused as a whole: vayu source test NAME shows why",
	Panicked:    "its parser has a fault: the log has the stack",
	StoreFailed: "ClickHouse did not store its readings",
	BreakerOpen: "it failed too often and is paused: vayu source test NAME shows why",
}

// Finding returns a line about the source for `vayu doctor`. `ok` is false if the last run failed. It is true for a
// source that runs on another instance.
func (s *Status) Finding(name string) (ok bool, text string) {
	text = name + ": " + string(s.Outcome)
	if s.Outcome == "" { // the source has not run since the start, or another instance collects it
		text = name + ": does not run here"
	}
	if s.LastSuccess != "" {
		text += ", last well at " + s.LastSuccess
	}
	if len(s.Refused) > 0 {
		text += ", refused for " + strings.Join(s.Refused, ", ")
	}
	if remedy := remedies[s.Outcome]; remedy != "" {
		text += fmt.Sprintf(" (%s)", strings.ReplaceAll(remedy, "NAME", name))
	}
	return s.Outcome == Done || s.Outcome == "", text
}
