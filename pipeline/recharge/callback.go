package recharge

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/api"
	"vayu/schema"
)

// Results of callbacks, in metrics.
const (
	callbackTaken   = "taken"
	callbackRefused = "refused" // not genuine, or not understood
	callbackUnknown = "unknown" // about a reference that nobody has
	callbackFailed  = "failed"  // it could not be acted upon, and the provider should come again
)

// frontMetrics count what goes wrong between clients, providers and the service.
type frontMetrics struct {
	callbacks   *prometheus.CounterVec
	plansFailed *prometheus.CounterVec
}

// newFrontMetrics registers the metrics, unless reg is nil.
func newFrontMetrics(reg prometheus.Registerer) (*frontMetrics, error) {
	m := &frontMetrics{
		callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_recharge_callbacks_total", Help: "What providers told by themselves, by what became of it: taken, refused, unknown or failed.",
		}, []string{"provider", "result"}),
		plansFailed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_recharge_plans_failed_total", Help: "Questions for plans that a provider did not answer.",
		}, []string{"provider"}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range [...]prometheus.Collector{m.callbacks, m.plansFailed} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of recharges: %w", err)
		}
	}
	return m, nil
}

// callback answers POST /callbacks/{provider}. Whoever asks has no key; the provider's
// signature over the body is what counts, and nothing else of the request is used.
// A reply with 200 says that nothing more needs to be told, also of what contradicts
// an outcome that is final: that is for people to look into, and the same words again
// would not help them.
func (s *Service) callback(c *api.Call) (api.Response, error) {
	conn := s.receiver(mux.Vars(c.Request)["provider"])
	if conn == nil {
		return api.Response{}, schema.Refuse(schema.NotFound, "", "There is nothing at this path.")
	}
	result, err := s.receive(c, conn)
	s.front.callbacks.WithLabelValues(conn.Name, result).Inc()
	if err != nil {
		return api.Response{}, err
	}
	return api.Response{Status: http.StatusOK, Value: schema.CallbackTaken{Status: schema.Success}}, nil
}

// receiver is the connection of a name that takes callbacks; nil when there is none.
func (s *Service) receiver(name string) *line {
	for _, l := range s.lines {
		if l.Name == name && l.Receiver != nil {
			return l
		}
	}
	return nil
}

// receive reads a callback and acts on it.
func (s *Service) receive(c *api.Call, conn *line) (result string, err error) {
	told, err := conn.Receiver.Receive(c.Header, c.Body, s.Now())
	if err != nil {
		return callbackRefused, err
	}
	_, err = s.Settle(c.Context(), conn.World, conn.Name, told.Reference, told.Answer, "provider:"+conn.Name)
	if p, ok := errors.AsType[*schema.Problem](err); ok && p.Code == schema.NotFound {
		return callbackUnknown, err
	}
	if err != nil {
		return callbackFailed, err
	}
	return callbackTaken, nil
}
