package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// sourceState is how a source of readings is doing, for whoever asks why figures are
// old.
type sourceState struct {
	Outcome     string   `json:"outcome,omitempty"`      // of the last run, as in vayu_source_outcome
	LastSuccess string   `json:"last_success,omitempty"` // RFC 3339; absent for not since the start
	Breaker     string   `json:"breaker,omitempty"`      // open, when it has failed too often
	Refused     []string `json:"refused,omitempty"`      // reasons for which inputs were refused since the start
}

// sourcesOf reads how sources are doing off their metrics.
func sourcesOf(g prometheus.Gatherer) map[string]*sourceState {
	out := map[string]*sourceState{}
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
				out[labels["source"]] = &sourceState{}
			}
			out[labels["source"]].note(family.GetName(), labels, m)
		}
	}
	return out
}

func (s *sourceState) note(name string, labels map[string]string, m *dto.Metric) {
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

// askPatience bounds the doctor's question to a running service.
const askPatience = 5 * time.Second

// serving asks the service that listens where the configuration says how it is, and
// what its sources said last. None is no fault: the doctor works without one.
func (c Config) serving(ctx context.Context) []finding {
	ctx, done := context.WithTimeout(ctx, askPatience)
	defer done()
	resp, address, err := c.askReadiness(ctx)
	if ctx.Err() != nil {
		return []finding{{false, "service", fmt.Sprintf("what listens at %s does not answer within %s: it hangs, or was stopped (see ps)", c.Listen, askPatience)}}
	}
	if err != nil {
		return []finding{{true, "service", "nobody listens at " + string(c.Listen) + "; is vayu serve running there? --listen names another address"}}
	}
	defer resp.Body.Close()
	var said struct {
		Status, ClickHouse, State, Kafka string
		Sources                          map[string]*sourceState
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return []finding{{false, "service", "what answers at " + address + " is no vayu serve"}}
	}
	all := []finding{{resp.StatusCode == http.StatusOK, "service", said.Status + " at " + address}}
	for _, store := range [...]struct{ name, is string }{{"clickhouse", said.ClickHouse}, {"state", said.State}, {"kafka", said.Kafka}} {
		if store.is != "" && store.is != "ok" {
			all = append(all, finding{false, "service", store.name + " " + store.is})
		}
	}
	names := make([]string, 0, len(said.Sources))
	for name := range said.Sources {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, said.Sources[name].finding(name))
	}
	return all
}

// askReadiness asks the internal listener, which says most, and the API's address if
// nothing answers there. The caller closes the body.
func (c Config) askReadiness(ctx context.Context) (resp *http.Response, address string, err error) {
	scheme := "http"
	if c.TLS.Enabled() {
		scheme = "https"
	}
	addresses := []string{scheme + "://" + string(c.Listen) + readyPath}
	if internal, _ := c.internalAddress(); internal != "" {
		addresses = slices.Insert(addresses, 0, "http://"+internal+readyPath)
	}
	// The certificate is for the name that clients use; this asks the same machine and
	// tells nothing secret.
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, //nolint:gosec // see above
	}}
	for _, address = range addresses {
		req, wrong := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if wrong != nil {
			return nil, address, wrong
		}
		if resp, err = client.Do(req); err != nil {
			continue
		}
		if resp.Header.Get("Content-Type") == "application/json" || address == addresses[len(addresses)-1] {
			return resp, address, nil
		}
		_ = resp.Body.Close() // another program has the default port of the internal listener
	}
	return nil, address, err
}

// remedies say what to do about outcomes of a source, in a line.
var remedies = map[string]string{
	"fetch_failed":  "it does not answer as it should: vayu source test NAME shows what it says",
	"timed_out":     "it answers too slowly: vayu source test NAME shows how slowly",
	"refused":       "its input was refused as a whole: vayu source test NAME shows why",
	"panicked":      "its parser has a fault: the log has the stack",
	"store_failed":  "ClickHouse did not take its readings",
	"rollup_failed": "its readings are stored, and the roll-up failed: the log says why",
	"breaker_open":  "it has failed too often and is left alone for a while: vayu source test NAME shows why",
}

// finding is a line of the doctor's report.
func (s *sourceState) finding(name string) finding {
	ok := s.Outcome == "done" || s.Outcome == ""
	text := name + ": " + s.Outcome
	if s.Outcome == "" { // since the start, or since another instance collects
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
	return finding{ok, "source", text}
}
