package httpapi

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	panics   prometheus.Counter
	unrouted prometheus.Counter
	foreign  prometheus.Counter
}

// latencyBuckets are bounds in seconds. Most answers come from memory in well under 1 ms. The target is 100 ms.
var latencyBuckets = []float64{.0001, .00025, .0005, .001, .003, .01, .03, .1, .3, 1, 3, 10}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	m := &metrics{
		requests: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"method", "route", "status"}),
		seconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_http_request_seconds", Help: "Time to answer a request, seconds.", Buckets: latencyBuckets,
		}, []string{"method", "route"}),
		panics: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_http_panics_total", Help: "Handlers that panicked.",
		}),
		unrouted: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_http_unrouted_total", Help: "Requests for a path or method that does not exist.",
		}),
		foreign: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_http_cross_origin_refusals_total", Help: "State-changing calls with a browser session that came from a page of another site.",
		}),
	}
	return m
}

// routeMetrics are the metrics of one endpoint. They cache the counter of each status, to avoid lookups in a map.
type routeMetrics struct {
	metrics       *metrics
	method, route string
	seconds       prometheus.Observer
	status        [600]atomic.Pointer[prometheus.Counter]
}

func (m *metrics) route(method, route string) *routeMetrics {
	return &routeMetrics{metrics: m, method: method, route: route, seconds: m.seconds.WithLabelValues(method, route)}
}

type timing struct {
	route *routeMetrics
	began time.Time
}

func (m *routeMetrics) start() timing { return timing{m, time.Now()} }

func (t timing) end(status int) {
	t.route.seconds.Observe(time.Since(t.began).Seconds())
	if status < 0 || status >= len(t.route.status) {
		status = http.StatusInternalServerError
	}
	slot := &t.route.status[status]
	counter := slot.Load()
	if counter == nil {
		c := t.route.metrics.requests.WithLabelValues(t.route.method, t.route.route, strconv.Itoa(status))
		counter = &c
		slot.Store(counter)
	}
	(*counter).Inc()
}
