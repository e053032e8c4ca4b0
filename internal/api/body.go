package api

import (
	"bytes"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"

	"vayu/schema"
)

// readBody reads the whole body of a call, at most as much as its route takes.
func (c *Call) readBody(w http.ResponseWriter, route *Route) error {
	if route.Body == 0 {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, c.Request.Body, route.Body))
	if err != nil {
		return schema.Refuse(schema.PayloadTooLarge, "", "The body is too large.")
	}
	c.Body = body
	return nil
}

// Decode reads the body of a call as one JSON object, strictly: names are
// compared as they are written and may stand once, numbers are numbers. Unknown
// names are ignored. A call without a body is refused.
func Decode[T any](c *Call) (T, error) {
	var v T
	if err := json.UnmarshalRead(bytes.NewReader(c.Body), &v); err != nil {
		return v, schema.Refuse(schema.InvalidJSON, "", "The body is not the JSON object that is needed.")
	}
	return v, nil
}
