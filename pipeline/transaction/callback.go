package transaction

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// Callback handles a request that a provider sends on its own. It returns a *schema.Problem for a
// request that is forged or unreadable. For an unknown reference the problem is not_found. After
// any other error the provider should retry.
type Callback func(c *httpapi.Call) error

// Message is a callback that a [Receiver] has read: an answer A about an order.
type Message[A any] struct {
	Reference string
	Answer    A
}

// Receiver reads the callbacks of a provider.
type Receiver[A any] interface {
	// Receive verifies the signature over the raw body and reads the callback. It returns a
	// *schema.Problem for a request that is forged or unreadable.
	Receive(header http.Header, body []byte, now time.Time) (Message[A], error)
}

// SettleFunc applies an answer that a provider sent on its own. `by` names the answer's source in the audit log.
type SettleFunc[R, A any] func(ctx context.Context, world schema.World, provider, reference string, a A, by string) (R, error)

// ByCallback begins the argument `by` of a SettleFunc if the answer is from a callback. The provider's name follows.
const ByCallback = "provider:"

// CallbacksOf returns the callback handlers of connections by name. `receiver` returns nil for a connection without
// callbacks. Each handler receives a message and passes it to `settle`. It returns the error of either step.
func CallbacksOf[R, A any, C Connection](all []C, now func() time.Time, receiver func(C) Receiver[A], settle SettleFunc[R, A]) map[string]Callback {
	out := map[string]Callback{}
	for _, conn := range all {
		l, receives := conn.Linked(), receiver(conn)
		if receives == nil {
			continue
		}
		out[l.Name] = func(c *httpapi.Call) error {
			message, err := receives.Receive(c.Header, c.Body, now())
			if err == nil {
				_, err = settle(c.Context(), l.World, l.Name, message.Reference, message.Answer, ByCallback+l.Name)
			}
			return err
		}
	}
	return out
}

// Callbacks routes callbacks to the handlers of providers, by the provider's name.
type Callbacks struct {
	handlers map[string]Callback
	total    *prometheus.CounterVec
}

// NewCallbacks merges maps of handlers by provider name. It fails if two providers have the
// same name, because the path of a callback has only the name.
func NewCallbacks(reg prometheus.Registerer, all ...map[string]Callback) (*Callbacks, error) {
	c := &Callbacks{handlers: map[string]Callback{}, total: promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "vayu_callbacks_total", Help: "Callbacks of providers by result: taken (processed), refused (invalid signature or body), unknown (no such reference) or failed.",
	}, []string{"provider", "result"})}
	for _, some := range all {
		for name, handle := range some {
			if c.handlers[name] != nil {
				return nil, fmt.Errorf("two providers are named %q, and the path of a callback has only the name", name)
			}
			c.handlers[name] = handle
		}
	}
	return c, nil
}

// Route returns the endpoint to which all providers send their callbacks.
func (c *Callbacks) Route() httpapi.Route {
	return httpapi.Route{Method: http.MethodPost, Path: "/callbacks/{provider}", NoAuth: true, OwnQuery: true, Body: httpapi.SmallBody, Handler: c.serve}
}

// serve answers POST /callbacks/{provider}. The request has no API key; the provider's signature over the body
// authenticates the request. Status 200 tells the provider not to retry. A callback that contradicts a final state
// also gets 200, because a retry would not help.
func (c *Callbacks) serve(call *httpapi.Call) (httpapi.Response, error) {
	name := mux.Vars(call.Request)["provider"]
	handle := c.handlers[name]
	if handle == nil {
		return httpapi.Response{}, schema.NewProblem(schema.NotFound, "", "This path does not exist.")
	}
	err := handle(call)
	c.total.WithLabelValues(name, resultOf(err)).Inc()
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Status: http.StatusOK, Value: schema.CallbackAccepted{Status: schema.Success}}, nil
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
