package httpapi

import (
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"vayu/internal/httpapi/compression"
)

// Flusher is the writer to which [Response].Stream writes the body of a reply.
type Flusher interface {
	io.Writer
	// Flush sends the written bytes.
	Flush() error
}

// Response is what a handler returns. If Value is set, the body is Value as JSON; otherwise it is Body and Tail, or
// what Stream writes. Header values are slices in the form of net/http, so that a response can be shared by requests
// without allocations. Do not change these slices.
type Response struct {
	Status int // 0 is 200
	Value  any
	Body   []byte
	// Tail is sent after Body, so that a handler need not copy the parts of a long answer into one slice. A handler
	// that sets Tail also sets Length and ETag, for Body and Tail together.
	Tail [][]byte
	// Stream writes the body in pieces, instead of Value and Body. A flush or a full buffer sends a piece. Each piece
	// has the time limit that otherwise applies to the whole reply. Stream is called once, after status and header are
	// sent. If Stream fails, the router aborts the connection, so that the client notices that the rest is missing.
	Stream func(w Flusher) error
	// Endless means that Stream runs until the client disconnects. X-Accel-Buffering then turns off buffering in proxies.
	// The stream ends if the client does not read a piece within five seconds. An early end is logged at debug level.
	Endless bool
	// ETag is the quoted strong validator of Body, or nil. Without an ETag, the router never replies 304.
	ETag []string
	// Modified is the Last-Modified header, sent only with an ETag. Changed is the same instant. Both may be unset.
	Modified []string
	Changed  time.Time
	// Type is the Content-Type header; nil means JSON.
	Type []string
	// Cache is the Cache-Control header; nil means no-store.
	Cache []string
	// Header has further headers of the reply, with canonical names. It may be nil.
	Header map[string][]string
	// Length is the Content-Length header of Body and Tail. If it is nil, the router computes the length.
	Length []string
	// Location is the path of the created object, or "" if the call created none.
	Location string
	// Cookie is a cookie for the client, or nil. The router adds Secure if the request came over TLS. A reply that is
	// stored for idempotency does not include the cookie.
	Cookie *http.Cookie
	// Replayed means that the response is the stored reply to an earlier call with the same Idempotency-Key.
	Replayed bool
	// Measured is the time (Unix seconds) of the oldest reading in the answer, or 0 for an answer without readings.
	// DataAge is the age of that reading in seconds. Stale means that the reading is too old to be current. Unless
	// Measured is 0, the router sends a header with DataAge, and another one if Stale is true.
	Measured int64
	DataAge  int64
	Stale    bool
	packed   func(encoding string) []byte // returns the compressed body; if nil, each reply is compressed
}

// Ready returns a response with the given body, which the caller must not change afterwards. It sets the headers ETag
// (a hash of the body), Content-Length and, unless the time `changed` is zero, Last-Modified.
func Ready(body []byte, changed time.Time) Response {
	resp := Response{Body: body, ETag: []string{ETag(body)}, Length: []string{strconv.Itoa(len(body))}}
	if !changed.IsZero() {
		resp.Changed = changed.UTC().Truncate(time.Second)
		resp.Modified = []string{resp.Changed.Format(http.TimeFormat)}
	}
	return resp
}

// CompressOnce returns a response for several requests, whose body is compressed only once per encoding. It returns
// resp unchanged if resp has a Tail, or a body shorter than compression.MinSize.
func (resp Response) CompressOnce() Response {
	if len(resp.Body) >= compression.MinSize && resp.Tail == nil {
		resp.packed = compression.Once(resp.Body)
	}
	return resp
}

// ETag returns the quoted strong validator of a body. It is a hash of the body.
func ETag(body []byte) string {
	var sum, text [16]byte
	n := xxhash.Sum64(body)
	for i := range 8 {
		sum[i] = byte(n >> (56 - 8*i))
	}
	hex.Encode(text[:], sum[:8])
	return `"` + string(text[:]) + `"`
}

// notModified reports whether the client's copy of the reply is current, so that a 304 suffices. The header
// If-None-Match takes precedence over If-Modified-Since (RFC 9110, 13.2.2).
func notModified(r *http.Request, resp *Response) bool {
	if matches, ok := r.Header["If-None-Match"]; ok {
		return len(resp.ETag) == 1 && etagListed(matches, resp.ETag[0])
	}
	since := r.Header.Get("If-Modified-Since")
	if since == "" || resp.Changed.IsZero() {
		return false
	}
	t, err := http.ParseTime(since)
	return err == nil && !resp.Changed.After(t)
}

// etagListed reports whether If-None-Match headers contain an ETag, or *, which matches every ETag. The comparison
// ignores the W/ of weak tags (RFC 9110, 13.1.2), and the suffix that write adds to the ETag of a compressed body.
func etagListed(headers []string, etag string) bool {
	opaque := strings.Trim(etag, `"`)
	for _, header := range headers {
		for tag := range strings.SplitSeq(header, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" {
				return true
			}
			tag = strings.TrimPrefix(tag, "W/")
			if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
				continue
			}
			tag = tag[1 : len(tag)-1]
			if base, encoding, found := strings.Cut(tag, "-"); found && compression.Supported(encoding) {
				tag = base
			}
			if tag == opaque {
				return true
			}
		}
	}
	return false
}

// Values of reply headers that never change. They are shared by all replies.
var (
	jsonType      = []string{"application/json"}
	noStore       = []string{"no-store"}
	varyHeader    = []string{"Accept-Encoding"}
	varyKey       = []string{"Authorization"}
	varyKeyOrigin = []string{"Authorization, Origin"}
	varyCookie    = []string{"Cookie"}
	everyPage     = []string{"*"}
	pageExposed   = []string{"Content-Range, ETag, RateLimit, RateLimit-Policy, Retry-After, X-Quota-Limit, X-Quota-Reset, X-Quota-Used, " +
		"X-Request-Id, X-SERVICE-Data-Age, X-SERVICE-Mode, X-SERVICE-Stale, X-SERVICE-Version"}
	staleMark   = []string{"true"}
	noSniff     = []string{"nosniff"}
	version     = []string{Version}
	sandboxMode = []string{"sandbox"}
	bearer      = []string{"Bearer"}
	replayed    = []string{"true"}
	closing     = []string{"close"}
	unbuffered  = []string{"no"}
	// A browser that gets this header uses only HTTPS for one year, as browser makers recommend.
	onlyTLS = []string{"max-age=31536000"}
)

// isPacked reports whether a media type is a compressed format. A further compression would only enlarge such a body.
func isPacked(contentType []string) bool {
	return len(contentType) == 1 && (contentType[0] == "image/png" || contentType[0] == "font/woff2")
}

// write sends a rendered response and returns its status. It writes all replies of the router except streams.
func write(w http.ResponseWriter, r *http.Request, resp *Response) (status int) {
	status, body := resp.Status, resp.Body
	h := w.Header()
	if h["Cache-Control"] = noStore; resp.Cache != nil {
		h["Cache-Control"] = resp.Cache
	}
	vary := h["Vary"] // set by varyBy; nil on HTTP/1, where varyBy writes to the header block
	maps.Copy(h, resp.Header)
	if more := resp.Header["Vary"]; more != nil {
		h["Vary"] = []string{strings.Join(slices.Concat(vary, more), ", ")}
	}
	if resp.Cookie != nil {
		h["Set-Cookie"] = []string{resp.Cookie.String()}
	}
	size := len(body)
	for _, part := range resp.Tail {
		size += len(part)
	}
	// A 304 has the ETag and Vary of the 200 (RFC 9110, 15.4.5), so the encoding is chosen first.
	encoding := ""
	if size >= compression.MinSize && !isPacked(resp.Type) {
		varyByEncoding(h)
		encoding = compression.Negotiate(r.Header["Accept-Encoding"], resp.packed != nil)
	}
	if resp.ETag != nil {
		h["Etag"] = resp.ETag
		if encoding != "" {
			h["Etag"] = []string{strings.TrimSuffix(resp.ETag[0], `"`) + "-" + encoding + `"`}
		}
		if resp.Modified != nil {
			h["Last-Modified"] = resp.Modified
		}
		if status == http.StatusOK && notModified(r, resp) {
			w.WriteHeader(http.StatusNotModified)
			return http.StatusNotModified
		}
	}
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return status
	}
	h["Content-Type"] = jsonType
	if resp.Type != nil {
		h["Content-Type"] = resp.Type
	}
	if resp.Location != "" {
		h["Location"] = []string{resp.Location}
	}
	if resp.Replayed {
		h["Idempotent-Replayed"] = replayed
	}
	if encoding != "" {
		h["Content-Encoding"] = []string{encoding}
	}
	switch {
	case encoding != "" && resp.packed != nil:
		body = resp.packed(encoding)
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	case encoding != "":
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			compression.Write(w, encoding, body, resp.Tail)
		}
		return status
	case resp.Length != nil:
		h["Content-Length"] = resp.Length
	default:
		h["Content-Length"] = []string{strconv.Itoa(size)}
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) //nolint:gosec // its type and nosniff are set; a disconnected client is ignored
		for _, part := range resp.Tail {
			_, _ = w.Write(part) //nolint:gosec // the same
		}
	}
	return status
}
