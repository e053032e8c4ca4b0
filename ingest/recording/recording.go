// Package recording makes a test case of package conformance from a fetch. It replaces secrets, serial numbers and
// personal addresses in the requests and replies.
package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/conformance"
	"vayu/ingest/fetch"
)

// Most is the largest number of requests in a test case. Test cases must be small, because people read them and a
// repository stores them.
const Most = 100

// Recording is a test case that was made from a fetch.
type Recording struct {
	Case conformance.Case
	// Files are the bodies of the replies, by file name.
	Files map[string][]byte
	// Replaced counts the replaced values by the name of the field that had them.
	Replaced map[string]int
}

// Marker replaces the secrets of the source description (YAML) in recorded exchanges.
const Marker = "***"

// New makes a case from the exchanges of a fetch. The exchanges must have whole bodies, in which [Marker] replaces the
// secrets of the source description (YAML). New replaces other secrets, serial numbers and personal addresses. `now` is
// the present time for the source.
func New(exchanges []ingest.Exchange, w ingest.Window, now time.Time) (*Recording, error) {
	if len(exchanges) == 0 {
		return nil, errors.New("recording the fetch: there was no request")
	}
	r := &Recording{
		Case:  conformance.Case{About: "recorded at " + now.UTC().Format(time.RFC3339), Now: now, From: w.From, To: w.To},
		Files: make(map[string][]byte),
	}
	var scrub Scrubber
	for _, e := range exchanges {
		scrub.Learn([]byte(e.Body))
	}
	for i, e := range exchanges {
		if e.Status == 0 {
			return nil, fmt.Errorf("recording the fetch: request %d has no reply: %s", i+1, e.Error)
		}
		reply, err := newReply(e, &scrub)
		if err != nil {
			return nil, fmt.Errorf("recording the fetch: request %d: %w", i+1, err)
		}
		if body := scrub.Body([]byte(e.Body)); len(body) > 0 {
			reply.File = strconv.Itoa(i+1) + extension(body)
			r.Files[reply.File] = body
		}
		r.Case.Replies = append(r.Case.Replies, reply)
	}
	r.Replaced = scrub.Replaced
	return r, nil
}

// inputFile is the name of the input file of a case for a source that reads a file.
const inputFile = "input.csv"

// OfFile makes a case from the content of a file. `now` is the present time for the source.
func OfFile(body []byte, now time.Time) *Recording {
	var scrub Scrubber
	scrub.Learn(body)
	return &Recording{
		Case:  conformance.Case{About: "recorded at " + now.UTC().Format(time.RFC3339), Now: now, Input: inputFile},
		Files: map[string][]byte{inputFile: scrub.Body(body)}, Replaced: scrub.Replaced,
	}
}

// newReply returns the reply of an exchange without its body. It omits secret parameters other than the source's key.
func newReply(e ingest.Exchange, scrub *Scrubber) (conformance.Reply, error) {
	_, address, _ := strings.Cut(e.Request, " ")
	u, err := url.Parse(scrub.Text(address))
	if err != nil {
		return conformance.Reply{}, errors.New("its address is invalid")
	}
	reply := conformance.Reply{Path: strings.ReplaceAll(u.EscapedPath(), Marker, url.PathEscape(conformance.Key))}
	if reply.Path == "" {
		reply.Path = "/"
	}
	if e.Status != http.StatusOK {
		reply.Status = e.Status
	}
	for name, values := range u.Query() {
		if reply.Query == nil {
			reply.Query = make(map[string]string)
		}
		if value := strings.ReplaceAll(values[0], Marker, conformance.Key); !isSecret(name) || value == conformance.Key {
			reply.Query[name] = value
		}
	}
	for name, values := range e.Header {
		if !kept(name) {
			continue
		}
		if reply.Header == nil {
			reply.Header = make(map[string]string)
		}
		reply.Header[name] = scrub.Text(strings.Join(values, ", "))
	}
	return reply, nil
}

// kept reports whether the case keeps a header of a reply, because a source may use it.
func kept(name string) bool {
	name = strings.ToLower(name)
	return name == "link" || name == "retry-after" || strings.Contains(name, "ratelimit") || strings.Contains(name, "rate-limit")
}

// extension returns the file extension for the content of a body.
func extension(body []byte) string {
	switch {
	case json.Valid(body):
		return ".json"
	case fetch.IsHTML(body):
		return ".html"
	}
	return ".txt"
}
