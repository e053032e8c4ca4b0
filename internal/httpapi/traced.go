package httpapi

import (
	"net/http"

	"vayu/internal/tracing"
)

// traced is answer as the first step of a trace. A request is told by its route, whose
// ids and names stand in braces, and by nothing that its client has written but a
// request id in due form.
func (rt *router) traced(x *exchange, m *method) (status int) {
	c := &x.call
	r, span := rt.trace.Request(c.Request, m.Method+" "+m.Path)
	c.Request = r
	status = http.StatusInternalServerError
	defer func() { // also after a panic
		if span.Kept() {
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
