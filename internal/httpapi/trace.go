package httpapi

import (
	"net/http"

	"vayu/internal/tracing"
)

// traced runs [router.answer] within a span (a timed step of a trace), the first span of its trace. The span contains
// the endpoint's path template. The only text from the client in the span is the request id, if it is valid.
func (rt *router) traced(x *exchange, m *method) (status int) {
	c := &x.call
	r, span := rt.trace.Request(c.Request, m.Method+" "+m.Path)
	c.Request = r
	status = http.StatusInternalServerError
	defer func() { // also after a panic
		if span.Recording() {
			span.Set(tracing.Method, m.Method)
			span.Set(tracing.Route, m.Path)
			span.Set(tracing.Request, c.ID)
			span.Set(tracing.World, c.World.String())
			span.SetInt(tracing.Status, status)
			if status >= http.StatusInternalServerError {
				span.Fail()
			}
		}
		span.End()
	}()
	return rt.answer(x, m)
}
