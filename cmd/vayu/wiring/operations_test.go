package wiring

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"

	"vayu/cmd/vayu/settings"
	"vayu/internal/testing/providers/fakeaggregator"
)

// operations is the folder of the operations guide.
const operations = "../../../docs/operations"

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(operations, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documentedMetric is a metric with its labels, as in the guide.
type documentedMetric struct{ labels, alert string }

var rowOfMetric = regexp.MustCompile("(?m)^\\| `(vayu_[a-z0-9_]+)` \\| \\w+ \\| ([^|]*) \\|[^|]*\\|[^|]*\\|[^|]*\\| ([^|]*) \\|$")

// documentedMetrics returns the metrics of docs/operations/metrics.md.
func documentedMetrics(t *testing.T) map[string]documentedMetric {
	t.Helper()
	all := map[string]documentedMetric{}
	for _, row := range rowOfMetric.FindAllStringSubmatch(readPage(t, "metrics.md"), -1) {
		if _, twice := all[row[1]]; twice {
			t.Errorf("the page has %s twice", row[1])
		}
		all[row[1]] = documentedMetric{sorted(strings.Split(strings.ReplaceAll(row[2], "`", ""), ",")), row[3]}
	}
	return all
}

func sorted(names []string) string {
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// runtimeMetrics are metrics that are registered when their part runs.
var runtimeMetrics = map[string]string{"vayu_leader": "name"}

var descParts = regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

// exportedMetrics returns the metrics of a service with all optional parts.
func exportedMetrics(t *testing.T) map[string]string {
	t.Helper()
	operator := filepath.Join(t.TempDir(), "operator.yaml")
	if err := os.WriteFile(operator, []byte(fakeaggregator.Describe("http://127.0.0.1:1")), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := settings.Defaults()
	cfg.Data, cfg.Listen, cfg.Kafka = t.TempDir(), "127.0.0.1:0", []string{"127.0.0.1:1"}
	cfg.Recharge.Operators = []string{operator}
	cfg.TLS.Domains = []string{"vayu.example"}
	s, err := New(cfg, slog.New(slog.DiscardHandler), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := s.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		s.metrics.Describe(descs)
	}()
	all := map[string]string{}
	for d := range descs {
		part := descParts.FindStringSubmatch(d.String())
		if len(part) == 0 || !strings.HasPrefix(part[1], "vayu_") {
			continue
		}
		var labels []string
		for pair := range strings.SplitSeq(part[2]+","+part[3], ",") {
			if name, _, _ := strings.Cut(pair, "="); name != "" {
				labels = append(labels, name)
			}
		}
		all[part[1]] = sorted(labels)
	}
	return all
}

// Every exported metric is documented, and every documented one is exported.
func TestThePageOfMetricsIsComplete(t *testing.T) {
	t.Parallel()
	got, want := map[string]string{}, exportedMetrics(t)
	maps.Copy(want, runtimeMetrics)
	for name, d := range documentedMetrics(t) {
		got[name] = d.labels
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/operations/metrics.md (-exported +page):\n%s", diff)
	}
}

// rule is an alert.
type rule struct {
	Alert, Expr, For string
	Labels           map[string]string
	Annotations      map[string]string
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal([]byte(readPage(t, "alerts.yml")), &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

var (
	metricIn = regexp.MustCompile(`vayu_[a-z0-9_]+`)
	suffix   = regexp.MustCompile(`_(bucket|sum|count)$`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noAnchor = regexp.MustCompile(`[^a-z0-9 -]`)
)

// metricsOf returns the metrics in an expression, as they are named in the guide.
func metricsOf(expr string) (names []string) {
	for _, name := range metricIn.FindAllString(expr, -1) {
		names = append(names, suffix.ReplaceAllString(name, ""))
	}
	return names
}

// anchors returns the link targets of a page, as GitHub makes them.
func anchors(text string) map[string]bool {
	all := map[string]bool{"": true}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return all
}

// Every alert reads existing metrics and links to a runbook that names it. Every alert
// in the metrics table or in a runbook exists.
func TestAlertsMetricsAndRunbooksAgree(t *testing.T) {
	t.Parallel()
	page, reads := documentedMetrics(t), map[string][]string{}
	for _, r := range rules(t) {
		reads[r.Alert] = metricsOf(r.Expr)
		for _, name := range reads[r.Alert] {
			if _, there := page[name]; !there {
				t.Errorf("%s reads %s, which is not in the metrics table", r.Alert, name)
			}
		}
		switch {
		case r.For == "":
			t.Errorf("%s: r.For is empty", r.Alert)
		case r.Labels["severity"] == "":
			t.Errorf("%s: r.Labels[\"severity\"] is empty", r.Alert)
		case r.Annotations["summary"] == "":
			t.Errorf("%s: r.Annotations[\"summary\"] is empty", r.Alert)
		case r.Annotations["description"] == "":
			t.Errorf("%s: r.Annotations[\"description\"] is empty", r.Alert)
		}
		path, anchor, _ := strings.Cut(strings.TrimPrefix(r.Annotations["runbook"], "docs/operations/"), "#")
		text := readPage(t, path)
		if !anchors(text)[anchor] || !strings.Contains(text, "`"+r.Alert+"`") {
			t.Errorf("%s leads to %s#%s, which does not name it or is not there", r.Alert, path, anchor)
		}
	}
	for name, d := range page {
		for _, match := range regexp.MustCompile("`([A-Za-z]+)`|\\b([A-Z][a-z]+[A-Z][A-Za-z]+)\\b").FindAllStringSubmatch(d.alert, -1) {
			alert := match[1] + match[2]
			if _, there := reads[alert]; !there {
				t.Errorf("%s names the alert %s, which is not there", name, alert)
			}
			if match[1] != "" && !slices.Contains(reads[alert], name) {
				t.Errorf("%s lists the alert %s, which does not read it", name, alert)
			}
		}
	}
	books, err := filepath.Glob(operations + "/runbooks/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(books) == 0 {
		t.Fatal("there are no runbooks")
	}
	for _, file := range books {
		text := readPage(t, "runbooks/"+filepath.Base(file))
		alerts := regexp.MustCompile("(?m)^Alerts?: (.+)$").FindStringSubmatch(text)
		if alerts == nil {
			t.Errorf("%s names no alerts", file)
			continue
		}
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(alerts[1], -1) {
			if _, there := reads[name[1]]; !there {
				t.Errorf("%s names %s, which is no alert", file, name[1])
			}
		}
		if !strings.Contains(readPage(t, "README.md"), "runbooks/"+filepath.Base(file)) {
			t.Errorf("the index lacks %s", file)
		}
	}
}

// The dashboard shows existing metrics.
func TestTheDashboardShowsMetricsThatExist(t *testing.T) {
	t.Parallel()
	var board any
	if err := json.Unmarshal([]byte(readPage(t, "grafana.json")), &board); err != nil {
		t.Fatal(err)
	}
	page, shown := documentedMetrics(t), 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for key, one := range v {
				if expr, ok := one.(string); ok && key == "expr" {
					shown++
					for _, name := range metricsOf(expr) {
						if _, there := page[name]; !there {
							t.Errorf("the dashboard shows %s, which is not in the metrics table", name)
						}
					}
				}
				walk(one)
			}
		}
	}
	walk(board)
	if shown == 0 {
		t.Error("the dashboard shows nothing")
	}
}
