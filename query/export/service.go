package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/dataset"
	"vayu/schema"
)

// Config configures a Service.
type Config struct {
	Conn dataset.Conn
	// Database returns the name of the database of a world. nil means [schema.World.Database].
	Database func(schema.World) string
	Now      func() time.Time // nil is time.Now
}

// Service serves exports over HTTP. It is safe for concurrent use.
type Service struct {
	Config

	slots   slots
	started started
}

// New returns a service. It starts nothing.
func New(c Config) *Service {
	if c.Database == nil {
		c.Database = schema.World.Database
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{Config: c, slots: slots{accounts: map[string]int{}}, started: started{files: map[string]file{}}}
}

// Routes returns the endpoint of the service.
func (s *Service) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/export/{table}", Scope: string(schema.ExportRead), Handler: s.export,
		Params: []string{"from", "to", "city", "station", "state", "parameters", "format"}, Type: mediaTypes(),
	}}
}

func mediaTypes() string {
	var all []string
	for _, name := range dataset.FormatNames() {
		all = append(all, strings.TrimSuffix(dataset.Formats[name].MediaType, "; charset=utf-8"))
	}
	return strings.Join(all, ", ")
}

// RowsPerCall is the number of rows that count as one call of the quota: the readings of one station in about a
// fortnight. For comparison, a bulk query for the current figures of all cities counts as one call, and returns some
// hundred figures.
const RowsPerCall = 10_000

// Calls returns the number of calls that the quota counts for an export with the given number of rows.
func Calls(rows uint64) int64 { return int64(max(1, (rows+RowsPerCall-1)/RowsPerCall)) }

// export handles GET /v1/export/{table}.
func (s *Service) export(c *httpapi.Call) (httpapi.Response, error) {
	database := s.Database(c.World)
	request, err := Resolve(c.Context(), s.Conn, database, Query{
		Table: mux.Vars(c.Request)["table"], From: c.Params["from"], To: c.Params["to"], City: c.Params["city"], Station: c.Params["station"],
		State: c.Params["state"], Parameters: c.Params["parameters"], Format: c.Params["format"], Account: c.Account, Today: schema.DayOf(s.Now()),
	})
	if err != nil {
		return httpapi.Response{}, unavailable(err)
	}
	release, err := s.slots.acquire(c.Account, request.Selection.Table.Derived)
	if err != nil {
		return httpapi.Response{}, err
	}
	resp, err := s.open(c, database, request)
	if err != nil || resp.Stream == nil || c.Method == http.MethodHead {
		release()
		return resp, unavailable(err)
	}
	write := resp.Stream
	resp.Stream = func(w httpapi.Flusher) error {
		defer release()
		out := &lastByte{Flusher: w}
		if err := write(out); err != nil {
			return err
		}
		release() // before the last byte, after which the client may send its next request
		return out.end()
	}
	return resp, nil
}

func unavailable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return aggregate.Unavailable(err)
}

// open returns the reply to a valid request.
func (s *Service) open(c *httpapi.Call, database string, request Request) (httpapi.Response, error) {
	e, err := Open(c.Context(), s.Conn, database, request)
	if err != nil {
		return httpapi.Response{}, err
	}
	tag := `"` + e.Tag + `"`
	resp := httpapi.Response{ETag: []string{tag}, Cache: []string{"private, max-age=0"}}
	if listed(c.Header["If-None-Match"], tag) {
		return resp, nil // the router answers 304
	}
	resp.Header = e.header(request)
	if match := c.Header["If-Match"]; len(match) > 0 && !listed(match, tag) {
		return httpapi.Response{}, changed()
	}
	resp.Type = []string{request.Format.MediaType}
	name := c.Account + " " + c.World.String() + " " + c.URL.Path + "?" + canonical(c.Params)
	began := s.started.find(name, s.Now())
	part, err := rangeOf(c, tag, began)
	if err != nil {
		return httpapi.Response{}, err
	}
	if c.Method == http.MethodHead {
		resp.Stream = func(httpapi.Flusher) error { return nil }
		return resp, nil
	}
	known := began.tag == tag && part != nil // then `partial` counts the range by its share of the file
	if !known {
		if err := count(c, Calls(e.Rows)); err != nil {
			return httpapi.Response{}, err
		}
	}
	s.started.add(name, tag, s.Now())
	if part == nil {
		resp.Stream = func(w httpapi.Flusher) error {
			_, err := e.Write(c.Context(), w, 0)
			return err
		}
		return resp, nil
	}
	return s.partial(c, e, resp, *part, known)
}

// count makes a request count as n calls of the quota. If fewer calls are left, it returns a *schema.Problem.
func count(c *httpapi.Call, n int64) error {
	if err := c.Reserve(n); err != nil {
		return err
	}
	c.Count = n
	return nil
}

// partial answers a request for a range of bytes. The reply must state the size of the file. So if the size is not
// cached, partial computes the file twice. If `byShare` is true, the request counts only by the requested share of
// the file.
func (s *Service) partial(c *httpapi.Call, e *Export, resp httpapi.Response, part span, byShare bool) (httpapi.Response, error) {
	size, err := s.started.size(resp.ETag[0], func() (int64, error) { return e.Size(c.Context()) })
	if err != nil {
		return httpapi.Response{}, err
	}
	from, to := part.within(size)
	if from >= size || from > to {
		text, err := json.Marshal(schema.NewProblem(schema.RangeNotSatisfiable, "Range", fmt.Sprintf("The file has %d bytes.", size)).Body(c.ID))
		return httpapi.Response{
			Status: http.StatusRequestedRangeNotSatisfiable, Header: map[string][]string{"Content-Range": {fmt.Sprintf("bytes */%d", size)}},
			// The body is sent as a stream, although it is short. The computation of the file's size may have used up
			// the time limit of an ordinary reply. The time limit of a stream starts now.
			Stream: func(w httpapi.Flusher) error { _, err := w.Write(text); return err },
		}, err
	}
	if byShare {
		rows := float64(e.Rows) * float64(to-from+1) / float64(size)
		if err := count(c, Calls(uint64(math.Ceil(rows)))); err != nil {
			return httpapi.Response{}, err
		}
	}
	resp.Status = http.StatusPartialContent
	resp.Header["Content-Range"] = []string{fmt.Sprintf("bytes %d-%d/%d", from, to, size)}
	resp.Header["Content-Length"] = []string{strconv.FormatInt(to-from+1, 10)}
	resp.Stream = func(w httpapi.Flusher) error {
		check := func() error { return e.unchanged(c.Context()) }
		_, err := e.Write(c.Context(), &limited{w, to - from + 1, check}, from)
		if errors.Is(err, errFull) {
			return nil
		}
		return err
	}
	return resp, nil
}

// header returns the HTTP headers of the reply with the exported file.
func (e *Export) header(r Request) map[string][]string {
	h := map[string][]string{
		"Accept-Ranges":       {"bytes"},
		"Content-Disposition": {`attachment; filename="` + r.Selection.Table.Name + "." + r.Format.Name + `"`},
		"X-SERVICE-Rows":      {strconv.FormatUint(e.Rows, 10)},
	}
	if !e.Changed.IsZero() {
		h["Last-Modified"] = []string{e.Changed.UTC().Format(http.TimeFormat)}
	}
	for name, text := range map[string]func(dataset.Licence) string{
		"X-SERVICE-Licence":     func(l dataset.Licence) string { return l.Licence },
		"X-SERVICE-Attribution": func(l dataset.Licence) string { return l.Attribution },
	} {
		if line := headerLine(e.Licences, text); line != "" {
			h[name] = []string{line}
		}
	}
	return h
}

// headerBytes limits the bytes of a header, because servers and proxies reject longer headers.
const headerBytes = 2048

// headerLine joins the distinct texts of licences, up to headerBytes. It percent-encodes invalid characters.
func headerLine(all []dataset.Licence, text func(dataset.Licence) string) string {
	var line []string
	seen, size := map[string]bool{"": true}, 0
	for _, one := range all {
		word := text(one)
		if seen[word] {
			continue
		}
		seen[word] = true
		word = strings.NewReplacer("%20", " ", "%2C", ",", "%2F", "/", "%3A", ":").Replace(url.PathEscape(word))
		if size += len(word) + 2; size > headerBytes {
			return strings.Join(append(line, "..."), "; ")
		}
		line = append(line, word)
	}
	return strings.Join(line, "; ")
}

// slots limit the exports in flight. Each export occupies a connection to ClickHouse until the client has read it.
type slots struct {
	mu       sync.Mutex
	all      int
	views    int // number of exports of views among `all`
	accounts map[string]int
}

// perAccount and perService are the largest numbers of exports in flight of one account and of all accounts. They
// leave the other connections to ClickHouse (16 in total by default) to queries.
const (
	perAccount = 2
	perService = 6
)

// acquire acquires a slot. An export of a view also acquires the only slot for views, because computing a view takes
// gigabytes of memory.
func (s *slots) acquire(account string, view bool) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	switch {
	case s.accounts[account] >= perAccount:
		text = fmt.Sprintf("The account has %d exports in flight, which is the limit.", perAccount)
	case s.all >= perService:
		text = "The service has as many exports in flight as it allows; please try again."
	case view && s.views > 0:
		text = "The service computes another view at the moment, and allows one at a time; please try again."
	}
	if text != "" {
		p := schema.NewProblem(schema.RateLimited, "", text)
		p.RetryAfter = 10
		return nil, p
	}
	views := 0
	if view {
		views = 1
	}
	s.all++
	s.views += views
	s.accounts[account]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		s.views -= views
		if s.accounts[account]--; s.accounts[account] == 0 {
			delete(s.accounts, account)
		}
	}), nil
}
