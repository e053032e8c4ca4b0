package kit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/conformance"
	"vayu/ingest/source/described"
	"vayu/ingest/source/described/budget"
)

// hazards are the checks of a source against a fake API, in the order of the report. In each, the fake API misbehaves
// in one way. A check returns its result and a reason.
var hazards = []struct {
	name  string
	check func(*bench, context.Context) (Result, string)
}{
	{"all pages", (*bench).allPages},
	{"refused key", (*bench).refusedKey},
	{"empty page", (*bench).emptyPage},
	{"repeated page", (*bench).repeatedPage},
	{"shifted page", (*bench).shiftedPage},
	{"429 with Retry-After", (*bench).tooManyRequests},
	{"cut body", (*bench).cutBody},
	{"cursor in the future", (*bench).futureCursor},
	{"late row", (*bench).lateRow},
	{"same window twice", (*bench).sameWindow},
	{"renamed field", (*bench).renamedField},
}

// bench is the state that all checks share.
type bench struct {
	d    *described.Description // with the page size of the fake API
	open func(server string, sleep budget.Sleep) ingest.Source
	c    *conformance.Case
	api  *api
	base *conformance.Fetched // what the source fetches if the fake API does not misbehave
	sent []*http.Request      // requests of that fetch
}

// checkHazards runs all checks against a fake API that is built from a case.
func (r *Report) checkHazards(ctx context.Context, d *described.Description, c *conformance.Case) error {
	a, err := newAPI(ctx, d, c)
	if err != nil {
		return fmt.Errorf("building a fake from the case %s: %w", c.Name(), err)
	}
	d = d.WithPageSize(a.size)
	b := &bench{d: d, c: c, api: a, open: func(server string, sleep budget.Sleep) ingest.Source { return d.NewAgainst(server, c.Clock, sleep) }}
	return r.run(ctx, b)
}

// run runs all checks. It skips them if a first fetch, during which the API has no fault, fails or yields no readings.
func (r *Report) run(ctx context.Context, b *bench) (err error) {
	if b.base, err = b.fetch(ctx, b.api); err != nil || len(b.base.Readings) == 0 {
		r.add("conformance", Skip, "the fake cannot page the replies of the case %s: %v", b.c.Name(), err)
		return ctx.Err()
	}
	b.sent = b.api.takeCalls()
	for _, h := range hazards {
		result, reason := h.check(b, ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
		r.add(h.name, result, "%s", reason)
	}
	return nil
}

// fetch fetches the window of the case from a handler that replaces the API.
func (b *bench) fetch(ctx context.Context, handler http.Handler) (*conformance.Fetched, error) {
	return b.fetchWindow(ctx, handler, b.c.Window(), noSleep)
}

func (b *bench) fetchWindow(ctx context.Context, handler http.Handler, w ingest.Window, sleep budget.Sleep) (got *conformance.Fetched, err error) {
	noted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.api.note(r)
		handler.ServeHTTP(w, r)
	})
	served := conformance.Serve(ctx, noted, func(address string) {
		got, err = conformance.Fetch(ctx, b.open(strings.TrimPrefix(address, "http://"), sleep), w, b.c.Now)
	})
	if got != nil && err == nil && len(got.Faults) > 0 {
		err = errors.New(strings.Join(got.Faults, "; "))
	}
	return got, errors.Join(err, served)
}

// onReadings returns a handler that passes requests for readings to the function `handle`, and other requests to the
// fake API. `handle` gets the requested collection, and the number of the requested page's first record.
func (b *bench) onReadings(handle func(w http.ResponseWriter, r *http.Request, one *collection, start int)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one, start := b.api.find(r)
		if one == nil || one.list.Name != described.Readings {
			b.api.ServeHTTP(w, r)
			return
		}
		handle(w, r, one, start)
	})
}

// paged reports whether the fake API can divide the readings into pages. For this, the real API must have pages, and
// the case must have a list of at least n records. If `ok` is false, `reason` states which of these is missing.
func (b *bench) paged(n int) (ok bool, reason string) {
	l := b.api.lists[0]
	if l.By == described.ByNone {
		for _, other := range b.api.lists[1:] {
			if other.By != described.ByNone {
				return false, fmt.Sprintf("the description has pages only for its %s", other.Name)
			}
		}
		return false, "the description has no pages"
	}
	for _, one := range b.api.readings() {
		if len(one.records) >= n {
			return true, ""
		}
	}
	return false, fmt.Sprintf("the case needs a list of at least %d records", n)
}

// sameReadings returns [Fail] if a fetch failed, or if its readings differ from those of a fetch without a fault.
func (b *bench) sameReadings(got *conformance.Fetched, err error) (Result, string) {
	if err != nil {
		return Fail, err.Error()
	}
	if diff := conformance.Difference(b.base.Readings, got.Readings); diff != "" {
		return Fail, "other readings (- expected, + fetched):\n" + diff
	}
	return Pass, ""
}

// allPages returns a text with the numbers of requests and readings of a fetch of several pages. The method `run` has
// already checked that this fetch succeeds.
func (b *bench) allPages(ctx context.Context) (Result, string) {
	if ok, reason := b.paged(2); !ok {
		return Skip, reason
	}
	return Pass, fmt.Sprintf("%d requests give %d readings", len(b.sent), len(b.base.Readings))
}

// refusedKey checks that every request has the key. It also checks that the source returns an error after one call if
// the API refuses the key. The error must not contain the key. A request without a key ends the check.
func (b *bench) refusedKey(ctx context.Context) (Result, string) {
	if i := slices.IndexFunc(b.sent, func(r *http.Request) bool { return !hasKey(r) }); i >= 0 {
		if b.d.Outline().Keyed {
			return Fail, fmt.Sprintf("the request %s has no key", b.sent[i].URL.Path)
		}
		return Skip, "the description has no key"
	}
	b.api.takeCalls()
	got, err := b.fetch(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error": "the key %s is wrong"}`, conformance.Key)
	}))
	calls := len(b.api.takeCalls())
	switch {
	case err == nil:
		return Fail, "a reply with status 401 is no error"
	case strings.Contains(err.Error(), conformance.Key):
		return Fail, "the error quotes the key"
	case len(got.Readings) > 0:
		return Fail, fmt.Sprintf("%d readings without a reply", len(got.Readings))
	case calls > 1:
		return Fail, fmt.Sprintf("%d calls with a refused key; one is enough", calls)
	}
	return Pass, "an error after one call"
}

// hasKey reports whether a request carries the key.
func hasKey(r *http.Request) bool {
	has := func(values []string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, conformance.Key) })
	}
	for _, values := range r.Header {
		if has(values) {
			return true
		}
	}
	for _, values := range r.URL.Query() {
		if has(values) {
			return true
		}
	}
	return strings.Contains(r.URL.Path, conformance.Key)
}

// emptyPage checks that a list without records is not an error.
func (b *bench) emptyPage(ctx context.Context) (Result, string) {
	if b.api.readings()[0].records == nil {
		return Skip, "the records are no list"
	}
	got, err := b.fetch(ctx, b.onReadings(func(w http.ResponseWriter, r *http.Request, one *collection, _ int) {
		b.api.send(w, r, &collection{list: one.list, body: one.body, records: []string{}}, 0, 0)
	}))
	if err != nil {
		return Fail, err.Error()
	}
	if len(got.Readings) > 0 {
		return Fail, fmt.Sprintf("%d readings of an empty list", len(got.Readings))
	}
	return Pass, "no reading and no error"
}

// repeatedPage replies to each request with the first page. The source must report an error or an unreadable partition.
func (b *bench) repeatedPage(ctx context.Context) (Result, string) {
	if ok, reason := b.paged(2); !ok {
		return Skip, reason
	}
	b.api.takeCalls()
	got, err := b.fetch(ctx, b.onReadings(func(w http.ResponseWriter, r *http.Request, one *collection, _ int) {
		b.api.send(w, r, one, 0, min(b.api.size, len(one.records)-1))
	}))
	calls := len(b.api.takeCalls())
	if err == nil && got.Rejected[ingest.Unreadable] == 0 {
		return Fail, fmt.Sprintf("the first page again is no error (%d calls)", calls)
	}
	if calls > len(b.sent)+1 {
		return Fail, fmt.Sprintf("%d calls, %d without the fault", calls, len(b.sent))
	}
	return Pass, reasonOf(err, got)
}

// shiftedPage simulates a record that moves from the end of the first page to the start of the next one between two
// requests. It checks that the source yields the record only once.
func (b *bench) shiftedPage(ctx context.Context) (Result, string) {
	if ok, reason := b.paged(3); !ok {
		return Skip, reason
	}
	got, err := b.fetch(ctx, b.onReadings(func(w http.ResponseWriter, r *http.Request, one *collection, start int) {
		shifted := *one
		if len(one.records) >= 3 {
			at := b.api.size
			shifted.records = slices.Insert(slices.Clone(one.records), at, one.records[at-1])
		}
		b.api.send(w, r, &shifted, start, start+b.api.size)
	}))
	result, reason := b.sameReadings(got, err)
	if result == Pass {
		reason = fmt.Sprintf("%d repeated values rejected", got.Rejected[ingest.Duplicate]-b.base.Rejected[ingest.Duplicate])
	}
	return result, reason
}

// Values of the header Retry-After that the fake API sends.
const (
	shortWait = 7 * time.Second
	longWait  = 3 * time.Hour
)

// tooManyRequests checks that after a refused call the source waits as long as the API demands (shortWait). If the API
// demands longWait, the source must return an error.
func (b *bench) tooManyRequests(ctx context.Context) (Result, string) {
	var slept time.Duration
	sleep := func(ctx context.Context, d time.Duration) error {
		slept += d
		return ctx.Err()
	}
	refuse := func(wait time.Duration, times int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if times > 0 {
				times--
				w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			b.api.ServeHTTP(w, r)
		})
	}
	got, err := b.fetchWindow(ctx, refuse(shortWait, 1), b.c.Window(), sleep)
	if result, reason := b.sameReadings(got, err); result != Pass {
		return result, reason
	}
	if slept < shortWait {
		return Fail, fmt.Sprintf("waits %s, want %s", slept, shortWait)
	}
	slept = 0
	if _, err = b.fetchWindow(ctx, refuse(longWait, 1), b.c.Window(), sleep); err == nil {
		return Fail, fmt.Sprintf("waits %s without an error", longWait)
	}
	return Pass, fmt.Sprintf("waits %s; %s is an error", shortWait, longWait)
}

// cutBody cuts off the replies. The source must yield no reading, and report an error or an unreadable partition.
func (b *bench) cutBody(ctx context.Context) (Result, string) {
	got, err := b.fetch(ctx, b.onReadings(func(w http.ResponseWriter, r *http.Request, one *collection, start int) {
		p, err := b.api.page(one, start, start+b.api.size)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotImplemented)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(p.body)+1))
		_, _ = w.Write(p.body)
	}))
	switch {
	case len(got.Readings) > 0:
		return Fail, fmt.Sprintf("%d readings of incomplete replies", len(got.Readings))
	case err == nil && got.Rejected[ingest.Unreadable] == 0:
		return Fail, "no error"
	}
	return Pass, reasonOf(err, got)
}

// futureSkew is how far in the future the newest stored reading is in the check `futureCursor`.
const futureSkew = 18 * time.Hour

// futureCursor checks that the source still fetches new readings after a reading with a time in the future was stored.
func (b *bench) futureCursor(ctx context.Context) (Result, string) {
	fetch := func(w ingest.Window) (*conformance.Fetched, []*http.Request, error) {
		b.api.takeCalls()
		got, err := b.fetchWindow(ctx, b.api, w, noSleep)
		return got, b.api.takeCalls(), err
	}
	_, normal, err := fetch(ingest.Window{To: b.c.Now})
	if err != nil {
		return Fail, err.Error()
	}
	got, calls, err := fetch(ingest.Window{From: b.c.Now.Add(futureSkew), To: b.c.Now})
	if result, reason := b.sameReadings(got, err); result != Pass {
		return result, reason
	}
	for i := range min(len(normal), len(calls)) {
		if got, want := calls[i].URL.RequestURI(), normal[i].URL.RequestURI(); got != want {
			return Fail, fmt.Sprintf("requests %s, want %s", got, want)
		}
	}
	return Pass, fmt.Sprintf("fetches the last %s", b.d.Outline().Overlap)
}

// lateRow checks that the overlap is longer than the averaging interval, and that a second fetch yields late records.
func (b *bench) lateRow(ctx context.Context) (Result, string) {
	o := b.d.Outline()
	if !o.Windowed {
		return Skip, "requests name no time range: each reply has what the API gives"
	}
	if o.Overlap <= o.Averaging {
		return Fail, fmt.Sprintf("the overlap %s is not longer than the averaging interval %s: a value that is one interval late is lost", o.Overlap, o.Averaging)
	}
	before, err := b.fetch(ctx, b.onReadings(func(w http.ResponseWriter, r *http.Request, one *collection, start int) {
		without := *one
		without.records = one.records[:len(one.records)/2] // the other half of the records is late
		b.api.send(w, r, &without, start, start+b.api.size)
	}))
	if err != nil {
		return Fail, err.Error()
	}
	got, err := b.fetch(ctx, b.api)
	if result, reason := b.sameReadings(got, err); result != Pass {
		return result, reason
	}
	return Pass, fmt.Sprintf("%d late readings are fetched; the overlap is %s", len(got.Readings)-len(before.Readings), o.Overlap)
}

// sameWindow checks that a source yields the same readings if it fetches the same window twice.
func (b *bench) sameWindow(ctx context.Context) (Result, string) {
	var got *conformance.Fetched
	var err error
	served := conformance.Serve(ctx, b.api, func(address string) {
		src := b.open(strings.TrimPrefix(address, "http://"), noSleep)
		for range 2 {
			if got, err = conformance.Fetch(ctx, src, b.c.Window(), b.c.Now); err != nil {
				return
			}
		}
	})
	result, reason := b.sameReadings(got, errors.Join(err, served))
	if result == Pass {
		reason = "the same readings"
	}
	return result, reason
}

// renamedField checks, for each needed field, that the source notices if the API renames it. If readings are then
// absent, the source must return an error or count rejected values.
func (b *bench) renamedField(ctx context.Context) (Result, string) {
	var tried, silent []string
	for _, f := range b.d.Outline().Fields {
		changed := false
		got, err := b.fetch(ctx, b.onReadings(func(w http.ResponseWriter, r *http.Request, one *collection, start int) {
			renamed, err := one.renamed(f.Paths)
			if err != nil || renamed == nil {
				renamed = one
			}
			changed = changed || renamed != one
			b.api.send(w, r, renamed, start, start+b.api.size)
		}))
		if !changed {
			continue // no reply of the case has the field
		}
		tried = append(tried, f.Paths[0])
		if err == nil && len(got.Readings) < len(b.base.Readings) && total(got.Rejected) <= total(b.base.Rejected) {
			silent = append(silent, f.Paths[0])
		}
	}
	switch {
	case len(silent) > 0:
		return Fail, "without an error or a rejected value: " + strings.Join(silent, ", ")
	case len(tried) == 0:
		return Skip, "the fake can rename no field"
	}
	return Pass, "is noticed: " + strings.Join(tried, ", ")
}

func total(r ingest.Rejections) (n int) {
	for reason, count := range r {
		if !reason.ConcernsPosition() {
			n += count
		}
	}
	return n
}

// reasonOf returns a text about the error of a fetch, or about its rejected partitions.
func reasonOf(err error, got *conformance.Fetched) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%d partitions count as unreadable", got.Rejected[ingest.Unreadable])
}
