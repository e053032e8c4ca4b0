package described

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/source/described/record"
	"vayu/internal/config/section"
)

// Ways to request further pages. They are the values of the key `pages.by`.
const (
	ByNone   = "none"
	ByPage   = "page"
	ByOffset = "offset"
	ByCursor = "cursor"
	ByLink   = "link-header"
	ByNext   = "link" // the reply has the address of the next page
)

const (
	defaultPages = 100
	mostPages    = 10_000
	mostSize     = 100_000
)

// pages defines how all pages of a list are requested.
type pages struct {
	by            string
	parameter     string // query parameter that selects the page by its number, its offset or a cursor
	first         int
	sizeParameter string
	size          int // records in a full page; 0 if unknown
	most          int
	next          string // path of the next cursor or address in a reply
	total         string // path of the total number of records in a reply
	untilEmpty    bool   // a page shorter than a full page does not end the list, but only an empty one
}

func parsePages(s *section.Section) pages {
	p := pages{
		by:        s.Choice("by", ByNone, ByNone, ByPage, ByOffset, ByCursor, ByLink, ByNext),
		parameter: s.Text("parameter"), first: s.Int("first", 1, 0, 1), next: s.Text("next"), total: s.Text("total"),
		sizeParameter: s.Text("size-parameter"), size: s.Int("size", 0, 1, mostSize), most: s.Int("max", defaultPages, 1, mostPages),
		untilEmpty: s.Choice("last", "short", "short", "empty") == "empty",
	}
	switch p.by {
	case ByPage, ByOffset, ByCursor:
		if p.parameter == "" {
			s.Faultf("parameter", "is missing: the parameter of the query that selects the page")
		}
	}
	if (p.next != "") != (p.by == ByCursor || p.by == ByNext) {
		s.Faultf("next", "is the path of the next cursor or address, and belongs to by: cursor and by: link")
	}
	if p.sizeParameter != "" && p.size == 0 {
		s.Faultf("size", "is missing: the value of the parameter %s", p.sizeParameter)
	}
	return p
}

// walk has the state of a fetch that reads the pages of a list.
type walk struct {
	p        *pages
	number   int // number of pages read
	records  int
	cursor   string
	link     string                    // address of the next page, from a header or a reply
	previous map[[sha256.Size]byte]int // hash of a page's records to the page's number
}

func newWalk(p *pages) *walk { return &walk{p: p, previous: make(map[[sha256.Size]byte]int)} }

// query returns the query parameters that select the next page.
func (w *walk) query() map[string]string {
	q := make(map[string]string, 2)
	if w.p.sizeParameter != "" {
		q[w.p.sizeParameter] = strconv.Itoa(w.p.size)
	}
	switch w.p.by {
	case ByPage:
		q[w.p.parameter] = strconv.Itoa(w.p.first + w.number)
	case ByOffset:
		q[w.p.parameter] = strconv.Itoa(w.records)
	case ByCursor:
		if w.cursor != "" {
			q[w.p.parameter] = w.cursor
		}
	}
	return q
}

// check returns an error if a page has the same records as an earlier page: the API then ignores the query parameter
// that selects the page. Pages without records may repeat.
func (w *walk) check(body record.Reply) error {
	if w.p.by == ByNone || body.Empty() {
		return nil
	}
	hash := sha256.Sum256([]byte(body.Raw()))
	if first, repeated := w.previous[hash]; repeated {
		return ingest.BadReplyf("page %d repeats page %d: the API ignores the parameter of the page", w.number+1, first)
	}
	w.previous[hash] = w.number + 1
	return nil
}

// advance counts a page of `count` records, and reports whether it was the last one. `address` is the URL of the page.
// `missing` is the number of records that the API includes in its total but did not list.
func (w *walk) advance(reply *fetch.Reply, body record.Reply, count int, address string) (last bool, missing int, err error) {
	w.number++
	w.records += count
	switch w.p.by {
	case ByNone:
		return true, 0, nil
	case ByCursor:
		next := body.Text(w.p.next)
		if next == "" {
			return true, 0, nil
		}
		if next == w.cursor {
			return true, 0, ingest.BadReplyf("page %d names itself as the next page: the cursor is unchanged", w.number)
		}
		w.cursor = next
	case ByNext, ByLink:
		if w.link, err = linkTo(w.target(reply, body), address); err != nil || w.link == "" {
			return true, 0, err
		}
		if w.link == address {
			return true, 0, ingest.BadReplyf("page %d links to itself as the next page", w.number)
		}
	default:
		if last, missing = w.ended(body, count); last {
			return true, missing, nil
		}
	}
	if w.number >= w.p.most {
		return true, 0, ingest.BadReplyf("the list has more than %d pages (key pages.max)", w.p.most)
	}
	return false, 0, nil
}

// target returns the link to the next page, relative or absolute as the API states it, or "" if there is none.
func (w *walk) target(reply *fetch.Reply, body record.Reply) string {
	if w.p.by == ByNext {
		return body.Text(w.p.next)
	}
	return nextLink(reply.Header.Values("Link"))
}

// ended reports whether a page of `count` records is the last one. An empty page is the last, and so is the page that
// reaches the total number of records. If there is no total, a page that is not full is the last, unless untilEmpty.
func (w *walk) ended(body record.Reply, count int) (last bool, missing int) {
	if w.p.total != "" {
		if total, err := strconv.Atoi(body.Text(w.p.total)); err == nil && total >= 0 {
			return count == 0 || w.records >= total, max(0, total-w.records)
		}
	}
	return count == 0 || !w.p.untilEmpty && count < w.p.size, 0
}

// linkValue matches one link of the header Link: the address, and the parameters up to a comma outside quotes.
// linkParameter matches one of its parameters: the name, and the value with or without quotes.
var (
	linkValue     = regexp.MustCompile(`<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)`)
	linkParameter = regexp.MustCompile(`;\s*([^\s;="]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?`)
)

// nextLink returns the address with rel="next" in the headers Link (RFC 8288), or "" if there is none.
func nextLink(headers []string) string {
	for _, header := range headers {
		for _, link := range linkValue.FindAllStringSubmatch(header, -1) {
			for _, p := range linkParameter.FindAllStringSubmatch(link[2], -1) {
				if strings.EqualFold(p[1], "rel") && slices.Contains(strings.Fields(strings.ToLower(p[2]+p[3])), "next") {
					return link[1]
				}
			}
		}
	}
	return ""
}

// linkTo returns the address of the next page, or "" if `target` is "". The scheme and host must be those of the
// current page, whose URL is `address`: the request for the next page also carries the key.
func linkTo(target, address string) (string, error) {
	if target == "" {
		return "", nil
	}
	base, err := url.Parse(address)
	if err != nil {
		return "", ingest.BadReplyf("the address of the page is invalid")
	}
	next, err := base.Parse(target)
	if err != nil || next.Host != base.Host || next.Scheme != base.Scheme {
		return "", ingest.BadReplyf("the link to the next page leads to another host, or from https to http")
	}
	return next.String(), nil
}

// partition fetches all pages of a partition. `part` has the fields of the partition. It is nil if the network has no
// partitions.
func (f *fetching) partition(ctx context.Context, part map[string]string, w ingest.Window) error {
	missing, err := f.readPages(ctx, &f.d.readings, f.d.mapping.Records, f.fields(w, part), func(body record.Reply) (int, error) {
		return f.sink.Add(body, part)
	})
	for range missing {
		f.builder.Reject(ingest.NotListed)
	}
	return err
}

// readPages requests all pages of a list, and passes each page to the function `use`, which returns the number of its
// records. `missing` is the number of records that the API includes in its total but did not list.
func (s *Source) readPages(
	ctx context.Context, r *request, records record.Records, fields map[string]string, use func(record.Reply) (int, error),
) (missing int, err error) {
	w := newWalk(&r.pages)
	for {
		address := w.link
		if address == "" {
			address = r.address(fields, w.query())
		}
		reply, err := s.caller.Get(ctx, fetch.Request{URL: address, Header: r.header, Clean: s.d.clean})
		if err != nil {
			return 0, err
		}
		body, err := records.Decode(reply.Body, s.d.clean)
		if err != nil {
			return 0, fmt.Errorf("reading page %d of %s: %w", w.number+1, r.describe(), err)
		}
		if err := w.check(body); err != nil {
			return 0, err
		}
		count, err := use(body)
		if err != nil {
			return 0, err
		}
		last, missing, err := w.advance(reply, body, count, address)
		if err != nil || last {
			return missing, err
		}
	}
}
