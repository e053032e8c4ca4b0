package upstream

import (
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// Callback takes what an upstream tells by itself. A *schema.Problem is the reply to
// what is not genuine or not understood, not_found to what is about a reference that
// nobody has; after any other error the upstream should come again.
type Callback func(c *httpapi.Call) error

// Callbacks are those of all upstreams, by name.
type Callbacks struct {
	of    map[string]Callback
	taken *prometheus.CounterVec
}

// NewCallbacks joins callbacks. It fails when two have one name, because the path of a
// callback has nothing else, or when the metric is registered already.
func NewCallbacks(reg prometheus.Registerer, all ...map[string]Callback) (*Callbacks, error) {
	c := &Callbacks{of: map[string]Callback{}, taken: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vayu_callbacks_total", Help: "What upstreams told by themselves, by what became of it: taken, refused (not genuine, or not understood), unknown (about a reference that nobody has) or failed.",
	}, []string{"provider", "result"})}
	for _, some := range all {
		for name := range some {
			if c.of[name] != nil {
				return nil, fmt.Errorf("two upstreams are called %s, and a callback names no more than that", name)
			}
		}
		maps.Copy(c.of, some)
	}
	if reg != nil {
		if err := reg.Register(c.taken); err != nil {
			return nil, fmt.Errorf("registering the metric of callbacks: %w", err)
		}
	}
	return c, nil
}

// Route is the endpoint.
func (c *Callbacks) Route() httpapi.Route {
	return httpapi.Route{Method: http.MethodPost, Path: "/callbacks/{provider}", Unkeyed: true, Body: httpapi.SmallBody, Handler: c.serve}
}

// serve answers POST /callbacks/{provider}. Whoever asks has no key; the upstream's
// signature over the body is what counts, and nothing else of the request is used. A
// reply with 200 says that nothing more needs to be told, also of what contradicts an
// outcome that is final: that is for people to look into, and the same words again
// would not help them.
func (c *Callbacks) serve(call *httpapi.Call) (httpapi.Response, error) {
	name := mux.Vars(call.Request)["provider"]
	take := c.of[name]
	if take == nil {
		return httpapi.Response{}, schema.Refuse(schema.NotFound, "", "There is nothing at this path.")
	}
	err := take(call)
	c.taken.WithLabelValues(name, resultOf(err)).Inc()
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Status: http.StatusOK, Value: schema.CallbackTaken{Status: schema.Success}}, nil
}

func resultOf(err error) string {
	p, problem := errors.AsType[*schema.Problem](err)
	switch {
	case err == nil:
		return "taken"
	case problem && p.Code == schema.NotFound:
		return "unknown"
	case problem:
		return "refused"
	default:
		return "failed"
	}
}
