package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"vayu/internal/httpapi/server"
	"vayu/schema"
)

// readBody reads the whole body of a call into c.Body, up to the limit of the endpoint (route.Body). If readBody leaves
// a body unread, net/http skips up to 256 KiB of it, and closes the connection if more is left. The parameter `w` must
// be the writer of net/http, because MaxBytesReader makes that writer close the connection at the limit.
func (c *Call) readBody(w http.ResponseWriter, route *Route) error {
	if c.Request.Body == nil || c.Request.Body == http.NoBody || c.Request.ContentLength == 0 {
		return nil
	}
	if route.Body == 0 {
		return c.noBody()
	}
	if err := c.typed(route.BodyTypes); err != nil {
		return err
	}
	if c.Request.ContentLength > route.Body {
		return tooLarge()
	}
	var body bytes.Buffer
	// A client may announce a longer body than it sends. Memory for a large body is therefore
	// allocated while the body arrives.
	body.Grow(int(min(max(c.Request.ContentLength, 0), SmallBody)) + bytes.MinRead)
	if _, err := body.ReadFrom(http.MaxBytesReader(w, c.Request.Body, route.Body)); err != nil {
		w.Header()["Connection"] = closing // the start of the next request is unknown
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return tooLarge()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return bodyTimeout()
		}
		return schema.NewProblem(schema.InvalidRequest, "", "The body is incomplete. Send the request again.")
	}
	if body.Len() == 0 {
		return nil
	}
	if len(c.Request.Header["Content-Type"]) == 0 {
		return wrongType(route.BodyTypes)
	}
	c.Body = body.Bytes()
	return nil
}

// noBody returns an error if the request has a body: if its Content-Length is not zero or, without a Content-Length, if
// the body is not empty.
func (c *Call) noBody() error {
	if c.Request.ContentLength < 0 {
		if n, err := io.ReadFull(c.Request.Body, make([]byte, 1)); n == 0 && errors.Is(err, io.EOF) {
			return nil
		}
	}
	return schema.NewProblem(schema.InvalidRequest, "", "A "+c.Request.Method+" request to this path must not have a body.")
}

// typed checks the headers that describe the body. The body must be uncompressed and in UTF-8. Its type must be JSON,
// or a media type in the parameter `others`, which typed then stores in c.BodyType. If the length of the body is
// unknown, Content-Type may be missing, because the body may be empty.
func (c *Call) typed(others []string) error {
	for _, list := range c.Request.Header["Content-Encoding"] {
		for coding := range strings.SplitSeq(list, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return schema.NewProblem(schema.UnsupportedMediaType, "Content-Encoding", "Content-Encoding is not supported. Send the body uncompressed.")
			}
		}
	}
	types := c.Request.Header["Content-Type"]
	if len(types) == 0 && c.Request.ContentLength < 0 {
		return nil
	}
	if len(types) != 1 {
		return wrongType(others)
	}
	if types[0] == jsonType[0] {
		return nil
	}
	name, params, err := mime.ParseMediaType(types[0])
	other := slices.Contains(others, name)
	if charset, stated := params["charset"]; err != nil || name != jsonType[0] && !other || stated && !strings.EqualFold(charset, "utf-8") {
		return wrongType(others)
	}
	if other {
		c.BodyType = name
	}
	return nil
}

func wrongType(others []string) error {
	all := strings.Join(slices.Concat(jsonType, others), " or ")
	return schema.NewProblem(schema.UnsupportedMediaType, "Content-Type", "The Content-Type must be "+all+", in UTF-8.")
}

// bodyTimeout returns the problem, with status 408, for a request that took longer to arrive than server.ReadTimeout.
func bodyTimeout() error {
	p := schema.NewProblem(schema.InvalidRequest, "", fmt.Sprintf("The body did not arrive within %d seconds.", int(server.ReadTimeout.Seconds())))
	p.Status, p.Retryable = http.StatusRequestTimeout, true
	return p
}

func tooLarge() error {
	return schema.NewProblem(schema.PayloadTooLarge, "", "The body exceeds the size limit of this path.")
}
