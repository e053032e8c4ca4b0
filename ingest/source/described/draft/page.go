package draft

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vayu/ingest/source/described"
	"vayu/ingest/source/described/draft/note"
	"vayu/ingest/source/described/draft/sample"
)

// paging is the guess about how the API divides a list into pages.
type paging struct {
	by        guess
	parameter guess
	size      *param // query parameter with the number of records in a page; nil for none
	next      string // path of the cursor of the next page
	total     string // path of the total number of records
	more      string // evidence that the API has more records than the reply
	limits    limits
}

// limits has the limit of calls that the headers of the reply state.
type limits struct {
	reset, remaining string
	calls            string // number of calls and period, such as 60/60s
}

var (
	nextNames  = []string{"nextcursor", "cursor", "nextpagetoken", "nexttoken", "nextkey", "continuation", "continuationtoken", "next", "nextpage", "after", "scrollid"}
	totalNames = []string{"total", "totalcount", "found", "totalrecords", "recordstotal", "totalresults", "numfound", "totalitems", "matched", "count"}
)

// findPages guesses how further pages are requested. It removes the parameters of the page and its size from `req`.
func findPages(body sample.Document, r *reading, req *request, h http.Header) paging {
	p := paging{limits: findLimits(h)}
	size := req.param(sizeParams)
	if size != nil {
		if _, err := strconv.Atoi(size.value); err != nil {
			size = nil
		}
	}
	total, cursor := 0, ""
	if body.Root.IsObject() {
		sample.EachMember(body.Root, "", 0, func(path string, v gjson.Result) {
			if path == r.records.At || strings.HasPrefix(path, r.records.At+".") && r.records.At != "@this" || v.IsObject() || v.IsArray() {
				return
			}
			name := sample.Fold(path[strings.LastIndexByte(path, '.')+1:])
			if slices.Contains(nextNames, name) && p.next == "" && v.Type == gjson.String && v.Str != "" {
				p.next, cursor = path, v.Str
			}
			if n := int(v.Int()); slices.Contains(totalNames, name) && v.Type == gjson.Number && n >= r.records.Count && p.total == "" {
				p.total, total = path, n
			}
		})
	}
	page, offset := req.param(pageParams), req.param(skipParams)
	switch {
	case slices.ContainsFunc(h.Values("Link"), func(l string) bool { return strings.Contains(l, "next") }):
		p.by = guess{described.ByLink, note.Found, "the header Link has rel=next"}
		p.next = ""
	case p.next != "" && !strings.Contains(cursor, "://") && !strings.HasPrefix(cursor, "/"):
		p.by = guess{described.ByCursor, note.Found, fmt.Sprintf("the reply has the cursor %s", p.next)}
		p.parameter = cursorParam(req, p.next)
	case page != nil:
		p.by, p.parameter = guess{described.ByPage, note.Found, "the request has the page"}, guess{page.name, note.Found, "the request"}
	case offset != nil:
		p.by, p.parameter = guess{described.ByOffset, note.Found, "the request has the offset"}, guess{offset.name, note.Found, "the request"}
	case p.next != "":
		p.fromAddress(cursor)
	case total > r.records.Count:
		p.by = guess{described.ByPage, note.Guessed, fmt.Sprintf("the reply has %d of %d records", r.records.Count, total)}
		p.parameter = guess{"page", note.Guessed, "a usual name; or it is by: offset"}
	}
	if p.by.value != described.ByCursor {
		p.next = ""
	}
	if p.by.value == "" {
		return p
	}
	p.size = size
	if size != nil {
		copied := *size
		p.size = &copied
	}
	req.drop(size)
	req.drop(req.param([]string{sample.Fold(p.parameter.value)}))
	return p
}

// cursorParam guesses the query parameter in which a request sends the cursor.
func cursorParam(req *request, next string) guess {
	if known := req.param(nextParams); known != nil {
		return guess{known.name, note.Found, "the request"}
	}
	name := next[strings.LastIndexByte(next, '.')+1:]
	for _, prefix := range []string{"next_", "next-", "next"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return guess{strings.ToLower(rest[:1]) + rest[1:], note.Guessed, "from the name " + name}
		}
	}
	return guess{"cursor", note.Guessed, "a usual name"}
}

// fromAddress guesses the paging from the address of the next page in the reply.
func (p *paging) fromAddress(next string) {
	u, err := url.Parse(next)
	if err != nil {
		return
	}
	for name := range u.Query() {
		switch folded := sample.Fold(name); {
		case slices.Contains(pageParams, folded):
			p.by, p.parameter = guess{described.ByPage, note.Found, "the address of the next page"}, guess{name, note.Found, "the address of the next page"}
		case slices.Contains(skipParams, folded):
			p.by, p.parameter = guess{described.ByOffset, note.Found, "the address of the next page"}, guess{name, note.Found, "the address of the next page"}
		}
	}
	if p.by.value == "" {
		p.more = "the reply has the address of the next page, " + p.next + "; the language reads addresses only from the header Link"
	}
}

// writePages writes the sections `pages` and `budget`.
func writePages(w *note.Writer, p paging) {
	if p.by.value != "" {
		w.Section("pages", func() {
			w.Key("by", p.by.value, p.by.certainty, "%s", p.by.evidence)
			if p.parameter.value != "" {
				w.Key("parameter", p.parameter.value, p.parameter.certainty, "%s", p.parameter.evidence)
			}
			if p.next != "" {
				w.Key("next", p.next, note.Found, "the last page has none")
			}
			if p.size != nil {
				w.Key("size-parameter", p.size.name, note.Found, "the request")
				w.Key("size", p.size.value, note.Found, "the request; the largest allowed size needs the fewest calls")
			}
			if p.total != "" && p.by.value != described.ByCursor && p.by.value != described.ByLink {
				w.Key("total", p.total, note.Guessed, "a number not below that of the records")
			}
		})
	} else if p.more != "" {
		w.Missing("pages", p.more, p.more)
	}
	l := p.limits
	if l.calls == "" && l.reset == "" {
		w.Missing("budget", "no header states the limit of calls", "the limit of calls. See the key budget.")
		return
	}
	w.Section("budget", func() {
		if l.calls != "" {
			w.Key("calls", l.calls, note.Found, "the header RateLimit-Policy")
		} else {
			w.Comment("UNKNOWN: the number of calls and their period, as calls: 60/1m")
		}
		if l.reset != "" {
			w.Key("reset-header", l.reset, note.Found, "the reply")
			if l.remaining != "" {
				w.Key("remaining-header", l.remaining, note.Found, "the reply")
			}
		}
	})
}

// policy matches a limit in the header RateLimit-Policy, such as 60;w=60 or q=60;w=60.
var policy = regexp.MustCompile(`(?:^|[^\d])(\d+)\s*;\s*w=(\d+)|q=(\d+)\s*;\s*w=(\d+)`)

// findLimits finds the headers that state a limit of calls.
func findLimits(h http.Header) limits {
	var l limits
	for name, values := range h {
		lower := strings.ToLower(name)
		if !strings.Contains(lower, "ratelimit") && !strings.Contains(lower, "rate-limit") {
			continue
		}
		switch {
		case strings.HasSuffix(lower, "policy"):
			if m := policy.FindStringSubmatch(strings.Join(values, ",")); m != nil {
				l.calls = m[1] + m[3] + "/" + m[2] + m[4] + "s"
			}
		case strings.HasSuffix(lower, "reset"):
			l.reset = name
		case strings.HasSuffix(lower, "remaining"):
			l.remaining = name
		}
	}
	return l
}
