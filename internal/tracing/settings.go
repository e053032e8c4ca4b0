package tracing

import (
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"vayu/internal/config"
)

// Settings configure the export of spans.
type Settings struct {
	Endpoint string        `yaml:"endpoint" help:"endpoint of traces, OTLP over HTTP, such as http://127.0.0.1:4318; empty for none"`
	Headers  config.Secret `yaml:"headers" help:"headers for the collector, name=value,name=value"`
	Sample   float64       `yaml:"sample" help:"share of traces that are sampled, 0 to 1"`
}

// DefaultSettings returns settings without an endpoint, which turn tracing off. If only an endpoint
// is added, every trace is sampled.
func DefaultSettings() Settings { return Settings{Sample: 1} }

// Validate returns one error for each invalid setting. The error names the setting. It implements config.Validator.
func (s Settings) Validate() []error {
	var f config.Faults
	u, err := url.Parse(s.Endpoint)
	f.Check(s.Endpoint == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "",
		"endpoint", "must be a URL such as http://127.0.0.1:4318")
	_, err = s.headers()
	f.CheckError(err, "headers")
	f.Check(s.Sample >= 0 && s.Sample <= 1, "sample", "must be from 0 to 1") // false for NaN, too
	return f
}

// url returns the URL to which traces are exported. If the endpoint has no path, it adds /v1/traces, the path of OTLP.
func (s Settings) url() string {
	if u, err := url.Parse(s.Endpoint); err == nil && (u.Path == "" || u.Path == "/") {
		return u.JoinPath("/v1/traces").String()
	}
	return s.Endpoint
}

// headers parses the setting Headers. An error states the position of the invalid header, and not
// its text, which may be secret.
func (s Settings) headers() (map[string]string, error) {
	all := map[string]string{}
	if !s.Headers.IsSet() {
		return all, nil
	}
	n := 0
	for pair := range strings.SplitSeq(s.Headers.Reveal(), ",") {
		n++
		name, value, ok := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("header %d is not name=value", n)
		}
		all[name] = value
	}
	return all, nil
}
