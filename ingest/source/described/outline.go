package described

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"vayu/ingest/source/described/mapping"
	"vayu/ingest/source/described/record"
)

// Outline summarises a description for a program that imitates the described API.
type Outline struct {
	// Keyed is true if the description has the section `auth`.
	Keyed bool
	// Windowed is true if requests for readings state the start of the wanted time range.
	Windowed bool
	// Overlap is the lookback: the time range that each run fetches again. Averaging is the longest averaging interval.
	Overlap, Averaging time.Duration
	// Lists are the lists that the source requests. The first is the list of readings.
	Lists []ListOutline
	// Fields are the fields that records must have, because readings are made from them.
	Fields []mapping.Field
}

// ListOutline describes a list of records.
type ListOutline struct {
	// Name is readings, partitions or stations.
	Name    string
	Records record.Records
	// By (the way to request further pages), Parameter, Next and Total are values of keys of the section `pages`.
	By, Parameter, Next, Total string
	// SizeParameter is the query parameter that states how many records a page should have, or "" if there is none.
	SizeParameter string
	// First is the number of the first page.
	First int

	url   *regexp.Regexp    // pattern of the path of the URL
	query map[string]string // parameters with a fixed value
	times []string          // query parameters with the start or the end of the wanted time range
}

// Readings is the name of the list of readings.
const Readings = "readings"

// Matches reports whether a URL requests this list.
func (l *ListOutline) Matches(u *url.URL) bool {
	if !l.url.MatchString(u.EscapedPath()) {
		return false
	}
	query := u.Query()
	for name, value := range l.query {
		if query.Get(name) != value {
			return false
		}
	}
	return true
}

// Varies reports whether a query parameter contains the start or the end of the wanted time range.
func (l *ListOutline) Varies(parameter string) bool { return slices.Contains(l.times, parameter) }

// Outline returns a summary of the description.
func (d *Description) Outline() Outline {
	o := Outline{
		Keyed: d.auth.query != "" || len(d.auth.header) > 0, Windowed: d.readings.windowed(), Overlap: d.Feed.Lookback, Averaging: d.mapping.LongestAveraging(),
		Fields: d.mapping.Fields(),
		Lists:  []ListOutline{d.readings.outline(Readings, d.mapping.Records)},
	}
	if l := d.partitions; l != nil && l.list != nil {
		o.Lists = append(o.Lists, l.request.outline("partitions", l.list.Records))
	}
	if d.stations != nil && d.stations.request.url != nil {
		o.Lists = append(o.Lists, d.stations.request.outline("stations", d.stations.list.Records))
	}
	return o
}

// WithPageSize returns a copy of the description that requests `size` records in a page of readings.
func (d *Description) WithPageSize(size int) *Description {
	other := *d
	other.readings.pages.size = size
	return &other
}

func (r *request) outline(name string, records record.Records) ListOutline {
	p := r.pages
	l := ListOutline{
		Name: name, Records: records, By: p.by, Parameter: p.parameter, Next: p.next, Total: p.total, SizeParameter: p.sizeParameter,
		First: p.first, query: make(map[string]string),
	}
	pattern := ""
	for _, piece := range r.url {
		if piece.field != "" {
			pattern += "[^/]*"
			continue
		}
		pattern += regexp.QuoteMeta(piece.text)
	}
	_, pattern, _ = strings.Cut(pattern, "://")
	if slash := strings.IndexByte(pattern, '/'); slash >= 0 {
		pattern = pattern[slash:]
	} else {
		pattern = "/?"
	}
	l.url = regexp.MustCompile("^" + pattern + "$")
	for _, p := range r.query {
		if !slices.ContainsFunc(p.value, func(one piece) bool { return one.field != "" }) {
			l.query[p.name] = p.value.expand(nil, func(string) string { return "" })
		}
		if slices.ContainsFunc(p.value, func(one piece) bool { return slices.Contains(windowFields, one.field) }) {
			l.times = append(l.times, p.name)
		}
	}
	return l
}

// windowed reports whether the request states the start of the wanted time range.
func (r *request) windowed() bool {
	has := func(t template) bool { return slices.ContainsFunc(t, func(p piece) bool { return p.field == "from" }) }
	return has(r.url) || slices.ContainsFunc(r.query, func(p parameter) bool { return has(p.value) })
}
