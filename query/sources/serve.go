package sources

import (
	"fmt"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/schema"
	"vayu/schema/air"
)

// cached is the Cache-Control of the replies.
var cached = []string{fmt.Sprintf("private, max-age=%d", int(maxAge.Seconds()))}

// List returns the handler of GET /v1/sources.
func (l *Lists) List(now func() time.Time) httpapi.Handler {
	return func(c *httpapi.Call) (httpapi.Response, error) {
		reply, err := l.Of(c.Context(), c.World, now())
		return httpapi.Response{Value: reply, Cache: cached}, err
	}
}

// One returns the handler of GET /v1/sources/{source}.
func (l *Lists) One(now func() time.Time) httpapi.Handler {
	return func(c *httpapi.Call) (httpapi.Response, error) {
		detail, err := l.Detail(c.Context(), c.World, mux.Vars(c.Request)["source"], now())
		if err != nil {
			return httpapi.Response{}, err
		}
		if detail == nil {
			return httpapi.Response{}, schema.NewProblem(schema.NotFound, "", "No source of this name has run in the last 30 days.")
		}
		return httpapi.Response{Value: air.SourceReply{Status: schema.Success, Data: *detail}, Cache: cached}, nil
	}
}
