package httpapi

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Flusher is where a stream goes.
type Flusher interface {
	io.Writer
	// Flush sends what was written.
	Flush() error
}

// Response is what a handler answers with: Body when the bytes are ready, else
// Value, which is turned into JSON. Header values are slices made beforehand so
// that an answer made once costs nothing per request; nobody may change them.
type Response struct {
	Status int // 0 is 200
	Value  any
	Body   []byte
	// Tail follows Body: a long answer whose parts are ready need not be copied
	// together. Whoever sets it sets Length and ETag for the whole.
	Tail [][]byte
	// Stream writes the body piece by piece, in place of Value and Body; what it has
	// written goes out whenever it flushes, and each piece may take as long as a whole
	// reply. It is called once, with status and header gone: an error ends the reply
	// so that the client sees that it is not whole.
	Stream func(w Flusher) error
	// Endless says that Stream goes on for as long as its client likes. Proxies are asked
	// to pass its pieces on at once, each of which is taken within seconds or the
	// connection is given up, and a client that leaves is nothing to log.
	Endless bool
	// ETag is the quoted strong validator of Body; nil for none. A response
	// that has one answers conditional requests.
	ETag []string
	// Modified is the Last-Modified header and Changed the same instant; nil
	// and zero for none.
	Modified []string
	Changed  time.Time
	// Type is the Content-Type header; nil means JSON.
	Type []string
	// Cache is the Cache-Control header; nil means no-store.
	Cache []string
	// Length is the Content-Length header of Body; nil lets it be computed.
	Length []string
	// Location is where to find what the call made or began; "" for none.
	Location string
	// Cookie is set in the client; nil for none. The router adds Secure to it when the
	// request came over TLS. A reply that is stored for repetitions loses it.
	Cookie *http.Cookie
	// Replayed marks the stored reply to a call that was made before.
	Replayed bool
	// Measured is the Unix second at which the oldest figure of the answer was measured;
	// 0 for an answer that has no age. DataAge is its age in seconds and Stale reports
	// that it is too old to be called current; they are sent when Measured is set.
	Measured int64
	DataAge  int64
	Stale    bool
	vary     credential        // what the answer depends on beside the address
	packed   map[string][]byte // the whole by encoding, when it is there already
}

// Ready fills in the headers of a body that never changes again: its strong
// ETag (a hash), its length, and the time of its last change unless that is
// zero.
func Ready(body []byte, changed time.Time) Response {
	resp := Response{Body: body, ETag: []string{ETag(body)}, Length: []string{strconv.Itoa(len(body))}}
	if !changed.IsZero() {
		resp.Changed = changed.UTC().Truncate(time.Second)
		resp.Modified = []string{resp.Changed.Format(http.TimeFormat)}
	}
	return resp
}

// ETag returns the quoted strong validator of a body.
func ETag(body []byte) string {
	var sum, text [16]byte
	n := xxhash.Sum64(body)
	for i := range 8 {
		sum[i] = byte(n >> (56 - 8*i))
	}
	hex.Encode(text[:], sum[:8])
	return `"` + string(text[:]) + `"`
}

// notModified reports whether the client already has the response: If-None-Match
// decides when it is there, else If-Modified-Since (RFC 9110, 13.2.2).
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

// etagListed compares weakly, as If-None-Match wants it, and takes the tag of a
// compressed representation for the same.
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
			if base, encoding, found := strings.Cut(tag, "-"); found && (encoding == gzipName || encoding == zstdName) {
				tag = base
			}
			if tag == opaque {
				return true
			}
		}
	}
	return false
}

// Headers that are the same on every reply.
var (
	jsonType    = []string{"application/json"}
	noStore     = []string{"no-store"}
	varyHeader  = []string{"Accept-Encoding"}
	varyKey     = []string{"Authorization"}
	varyKeyed   = []string{"Authorization, Accept-Encoding"}
	varyCookie  = []string{"Cookie"}
	varySession = []string{"Cookie, Accept-Encoding"}
	staleMark   = []string{"true"}
	noSniff     = []string{"nosniff"}
	version     = []string{Version}
	sandboxMode = []string{"sandbox"}
	bearer      = []string{"Bearer"}
	replayed    = []string{"true"}
	closing     = []string{"close"}
	unbuffered  = []string{"no"}
	// A year, as long as browsers and scanners ask for.
	onlyTLS = []string{"max-age=31536000"}
)

// render fills in the status and turns Value into Body. What can fail fails
// here, before anything is said.
func (resp *Response) render() (err error) {
	if resp.Status == 0 {
		resp.Status = http.StatusOK
	}
	if resp.Value != nil {
		resp.Body, err = json.Marshal(resp.Value)
	}
	return err
}

// write sends a rendered response and returns its status. It is the only place
// where bodies are written.
func write(w http.ResponseWriter, r *http.Request, resp *Response) (status int) {
	status, body := resp.Status, resp.Body
	h := w.Header()
	cache := resp.Cache
	if cache == nil {
		cache = noStore
	}
	h["Cache-Control"] = cache
	if resp.Cookie != nil {
		h["Set-Cookie"] = []string{resp.Cookie.String()}
	}
	size := len(body)
	for _, part := range resp.Tail {
		size += len(part)
	}
	// The encoding comes first: a 304 carries the ETag and Vary of the 200 that
	// it stands for (RFC 9110, 15.4.5).
	encoding := ""
	if size >= compressFrom {
		resp.vary.add(h)
		encoding = negotiate(r.Header["Accept-Encoding"])
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
	packed := resp.packed[encoding]
	switch {
	case packed != nil:
		h["Content-Length"] = []string{strconv.Itoa(len(packed))}
		body = packed
	case encoding != "":
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			compress(w, encoding, body, resp.Tail)
		}
		return status
	case resp.Length != nil:
		h["Content-Length"] = resp.Length
	default:
		h["Content-Length"] = []string{strconv.Itoa(size)}
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) //nolint:gosec // it says its type, and nosniff; a client that went away is its own business
		for _, part := range resp.Tail {
			_, _ = w.Write(part) //nolint:gosec // the same
		}
	}
	return status
}
