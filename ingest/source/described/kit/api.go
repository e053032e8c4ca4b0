package kit

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"vayu/ingest"
	"vayu/ingest/conformance"
	"vayu/ingest/recording"
	"vayu/ingest/source/described"
)

// mostRecords is the largest number of records that a list of the fake API has.
const mostRecords = 60

// collection is the content of one list of the fake API: the records of all its pages.
type collection struct {
	list    *described.ListOutline
	body    []byte   // body of the first page
	records []string // records of all pages; nil if the records are not in a list
}

// api is a fake API that is built from the replies of a test case.
type api struct {
	lists       []described.ListOutline
	collections map[string]*collection
	size        int // number of records in a page

	mu    sync.Mutex
	calls []*http.Request
}

// keyOf returns the key of the collection that a request reads. The key excludes the query parameters for the time
// range and the page.
func keyOf(l *described.ListOutline, u *url.URL) string {
	query := u.Query()
	for name := range query {
		if name == l.Parameter || name == l.SizeParameter || name == linkParameter || l.Varies(name) {
			query.Del(name)
		}
	}
	return l.Name + " " + u.EscapedPath() + "?" + query.Encode()
}

// linkParameter is the query parameter that selects the page in the fake API's links to the next page.
const linkParameter = "kit-page"

// newAPI builds a fake API from the replies of a case. It lets the source fetch these replies once, to record which
// request gets which reply.
func newAPI(ctx context.Context, d *described.Description, c *conformance.Case) (*api, error) {
	a := &api{lists: d.Outline().Lists, collections: make(map[string]*collection)}
	recorder := ingest.Recorder{Kept: recording.Most, Whole: true}
	ctx = ingest.WithRecorder(ctx, &recorder)
	_, err := c.Serve(ctx, func() error {
		_, err := conformance.Fetch(ctx, d.NewAgainst(c.Host(), c.Clock, noSleep), c.Window(), c.Now)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, e := range recorder.Exchanges() {
		if e.Status == http.StatusOK {
			a.add(e)
		}
	}
	for _, one := range a.collections {
		if one.records == nil {
			continue
		}
		one.records = one.records[:min(len(one.records), mostRecords)]
		if one.list.Name == described.Readings {
			a.size = max(a.size, (len(one.records)+1)/2)
		}
	}
	a.size = max(a.size, 1)
	return a, nil
}

// add adds the records of a recorded page to the fake API.
func (a *api) add(e ingest.Exchange) {
	_, address, _ := strings.Cut(e.Request, " ")
	u, err := url.Parse(strings.ReplaceAll(address, recording.Marker, conformance.Key))
	if err != nil {
		return
	}
	l := a.listOf(u)
	if l == nil {
		return
	}
	body := []byte(e.Body)
	one := a.collections[keyOf(l, u)]
	if one == nil {
		one = &collection{list: l, body: body}
		a.collections[keyOf(l, u)] = one
	}
	one.records = append(one.records, records(l, body)...)
}

func (a *api) listOf(u *url.URL) *described.ListOutline {
	i := slices.IndexFunc(a.lists, func(l described.ListOutline) bool { return l.Matches(u) })
	if i < 0 {
		return nil
	}
	return &a.lists[i]
}

// readings returns the collections of readings.
func (a *api) readings() []*collection {
	var all []*collection
	for _, key := range slices.Sorted(maps.Keys(a.collections)) {
		if one := a.collections[key]; one.list.Name == described.Readings {
			all = append(all, one)
		}
	}
	return all
}

// page is one page of a collection, in the form in which the real API would send it.
type page struct {
	body []byte
	next string // position of the first record of the next page, for a link; "" if there is no link
}

// find returns the collection that a request reads (nil if there is none), and the number of the page's first record.
func (a *api) find(r *http.Request) (one *collection, start int) {
	l := a.listOf(r.URL)
	if l == nil {
		return nil, 0
	}
	one = a.collections[keyOf(l, r.URL)]
	query := r.URL.Query()
	at := func(name string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(query.Get(name), cursorPrefix))
		return n
	}
	switch l.By {
	case described.ByPage:
		start = (at(l.Parameter) - l.First) * a.size
	case described.ByOffset, described.ByCursor:
		start = at(l.Parameter)
	case described.ByLink, described.ByNext:
		start = at(linkParameter)
	}
	return one, start
}

// cursorPrefix is the prefix of the fake API's cursors. With it, no cursor looks like a number.
const cursorPrefix = "cursor-"

// page returns the page of a collection that begins at the record number `start`. Its link or cursor refers to the page
// that begins at the record number `next`. Without paging, and for other lists than readings, it returns all records.
func (a *api) page(one *collection, start, next int) (page, error) {
	l := one.list
	if one.records == nil {
		return page{body: one.body}, nil
	}
	end := start + a.size
	if l.By == described.ByNone || l.Name != described.Readings {
		start, end, next = 0, len(one.records), len(one.records)
	}
	start = min(max(start, 0), len(one.records))
	end = min(end, len(one.records))
	var out page
	body, err := withRecords(l, one.body, one.records[start:end])
	if err == nil && l.Total != "" {
		body, err = set(body, l.Total, strconv.Itoa(len(one.records)))
	}
	if l.By == described.ByCursor && err == nil {
		cursor := "null"
		if next < len(one.records) {
			cursor = `"` + cursorPrefix + strconv.Itoa(next) + `"`
		}
		body, err = set(body, l.Next, cursor)
	}
	if l.By == described.ByNext && err == nil {
		body, err = set(body, l.Next, "null") // removes the address that the recorded page has
	}
	if (l.By == described.ByLink || l.By == described.ByNext) && next < len(one.records) {
		out.next = strconv.Itoa(next)
	}
	out.body = body
	return out, err
}

// renamed returns a copy of the collection in which the field at each of the paths has another name in all records. It
// returns nil if no record has such a field.
func (c *collection) renamed(paths []string) (*collection, error) {
	before := c.body
	if c.records != nil {
		var err error
		if before, err = withRecords(c.list, c.body, c.records); err != nil {
			return nil, err
		}
	}
	after := before
	for _, path := range paths {
		var err error
		if after, err = rename(c.list, after, path); err != nil {
			return nil, err
		}
	}
	if bytes.Equal(after, before) {
		return nil, nil
	}
	return &collection{list: c.list, body: after, records: records(c.list, after)}, nil
}

// note records a request and returns its number, counted from 1.
func (a *api) note(r *http.Request) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, r)
	return len(a.calls)
}

// takeCalls returns the requests since the last call of takeCalls.
func (a *api) takeCalls() []*http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := a.calls
	a.calls = nil
	return calls
}

// ServeHTTP implements [http.Handler]. It sends the requested page.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one, start := a.find(r)
	if one == nil {
		http.NotFound(w, r)
		return
	}
	a.send(w, r, one, start, start+a.size)
}

// send sends the page of a collection that begins at the record number `start`. The page states that the next page
// begins at the record number `next`.
func (a *api) send(w http.ResponseWriter, r *http.Request, one *collection, start, next int) {
	p, err := a.page(one, start, next)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotImplemented)
		return
	}
	if p.next != "" {
		query := r.URL.Query()
		query.Set(linkParameter, p.next)
		if one.list.By == described.ByNext {
			p.body, err = set(p.body, one.list.Next, strconv.Quote("?"+query.Encode()))
		}
		w.Header().Set("Link", `<?`+query.Encode()+`>; rel="next"`)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotImplemented)
		return
	}
	// If Write fails, the connection is broken, which the source reports.
	_, _ = w.Write(p.body) //nolint:gosec // the fake replies to the source in JSON, and to no browser
}
