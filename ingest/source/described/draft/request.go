package draft

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"vayu/ingest/source/described/draft/note"
	"vayu/ingest/source/described/draft/quantity"
	"vayu/ingest/source/described/draft/sample"
)

// request is the section `request` of a draft. It repeats the request for the sample, with placeholders for its time
// range and its key.
type request struct {
	address string // URL without the query
	params  []param
	headers []header
	format  guess // format of the time range
	key     *authParam
}

// param is a query parameter.
type param struct {
	name, value string
	guess
}

type header struct{ name, value string }

// authParam is the query parameter or header that has the API key.
type authParam struct {
	in, name, value string
	evidence        string
}

// Usual names of query parameters, in lower case and without separators.
var (
	keyParams  = []string{"apikey", "key", "token", "accesstoken", "appid", "auth", "xapikey", "authtoken", "subscriptionkey", "apitoken"}
	toParams   = []string{"to", "end", "until", "before", "dateto", "datetimeto", "endtime", "enddate", "todate", "maxtime", "endts"}
	sizeParams = []string{"limit", "perpage", "pagesize", "size", "count", "rows", "take", "top", "results", "maxresults"}
	pageParams = []string{"page", "pagenumber", "pageno", "p"}
	skipParams = []string{"offset", "skip", "start", "startindex"}
	nextParams = []string{"cursor", "after", "pagetoken", "nexttoken", "continuation", "scrollid", "nextcursor", "marker"}
)

// variable matches a text that is nothing but a reference to an environment variable.
var variable = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

// readRequest creates the section `request` from the address and the headers of the sample.
func readRequest(in Input) (*request, error) {
	r := &request{}
	hidden := strings.NewReplacer("${", "%24%7B", "}", "%7D").Replace(in.Address)
	u, err := url.Parse(hidden)
	if err != nil || u.Host == "" {
		r.address = fillIn
	} else {
		r.address = u.Scheme + "://" + u.Host + u.Path
		u.Path = ""
	}
	own := "${" + strings.ToUpper(strings.ReplaceAll(in.Name, "-", "_")) + "_KEY}"
	if u != nil {
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			return nil, fmt.Errorf("reading the query of the address: %w", err)
		}
		for _, name := range slices.Sorted(maps.Keys(query)) {
			if !utf8.ValidString(name + query.Get(name)) {
				return nil, errors.New("reading the query of the address: it is not UTF-8")
			}
			r.addParam(name, query.Get(name), own)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		r.addHeader(name, in.Headers[name], own)
	}
	return r, nil
}

func (r *request) addParam(name, value, own string) {
	if IsKey(name) || variable.MatchString(value) {
		if !variable.MatchString(value) {
			value = own
		}
		r.key = &authParam{"query", name, value, "the name of the parameter"}
		return
	}
	p := param{name: name, value: value, guess: guess{certainty: note.Found, evidence: "the request"}}
	format, also := sample.TimeFormat([]string{value})
	if format == "" && len(value) == 10 && sample.InRange("2006-01-02", value) {
		format = "2006-01-02"
	}
	if format != "" {
		side := "{from}"
		if isEnd(name) {
			side = "{to}"
		}
		p.value, p.evidence = side, "it was the time "+value
		r.format = guess{format, note.Found, "that of " + name}
		if len(also) > 0 {
			r.format.certainty = note.Guessed
		}
	}
	r.params = append(r.params, p)
}

// isEnd reports whether the name of a query parameter means the end of the requested time range, such as to_ms.
func isEnd(name string) bool {
	return slices.ContainsFunc(append(quantity.Words(name), sample.Fold(name)), func(word string) bool { return slices.Contains(toParams, word) })
}

func (r *request) addHeader(name, value, own string) {
	folded := sample.Fold(name)
	secret := strings.Contains(value, "${") || folded == "authorization" || strings.Contains(folded, "key") || strings.Contains(folded, "token")
	if !secret || r.key != nil && r.key.in == "header" {
		r.headers = append(r.headers, header{name, value})
		return
	}
	if !strings.Contains(value, "${") {
		scheme, _, found := strings.Cut(value, " ")
		value = own
		if found && folded == "authorization" {
			value = scheme + " " + own
		}
	}
	r.key = &authParam{"header", name, value, "the request"}
}

// param returns the query parameter with one of the names, or nil. It ignores parameters that have the time range.
func (r *request) param(names []string) *param {
	for i := range r.params {
		if slices.Contains(names, sample.Fold(r.params[i].name)) && !strings.HasPrefix(r.params[i].value, "{") {
			return &r.params[i]
		}
	}
	return nil
}

// drop removes a query parameter that another section of the description sets.
func (r *request) drop(p *param) {
	if p != nil {
		name := p.name
		r.params = slices.DeleteFunc(r.params, func(one param) bool { return one.name == name })
	}
}

// write writes the sections `auth` and `request`.
func (r *request) write(w *note.Writer) {
	w.Gap()
	if r.key != nil {
		w.Section("auth", func() {
			w.Section(r.key.in, func() {
				w.Key("name", r.key.name, note.Found, "%s", r.key.evidence)
				w.Key("value", r.key.value, note.Found, "set this variable of the environment; the key itself is in no file")
			})
		})
	}
	w.Section("request", func() {
		if r.address == fillIn {
			w.Key("url", "https://"+fillIn+".example.com", note.Unknown, "the address of the API, without its query")
		} else {
			w.Key("url", r.address, note.Found, "the request")
		}
		if len(r.params) > 0 {
			w.Section("query", func() {
				for _, p := range r.params {
					w.Key(p.name, p.value, p.certainty, "%s", p.evidence)
				}
			})
		}
		if r.format.value != "" && r.format.value != "rfc3339" {
			w.Key("window-format", r.format.value, r.format.certainty, "%s", r.format.evidence)
		}
		if len(r.headers) > 0 {
			w.Section("headers", func() {
				for _, h := range r.headers {
					w.Key(h.name, h.value, note.Found, "the request")
				}
			})
		}
		if r.format.value == "" {
			w.Missing("request.query", "no parameter of the request has the wanted time range",
				"has the API parameters for the wanted time range? Then add them to request.query, as {from} and {to}.")
		}
	})
}

// IsKey reports whether a query parameter with this name usually has an API key.
func IsKey(name string) bool { return slices.Contains(keyParams, sample.Fold(name)) }

// IsLocal reports whether a host is in the local network.
func IsLocal(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".lan") {
		return true
	}
	at, err := netip.ParseAddr(host)
	return err == nil && (at.IsPrivate() || at.IsLoopback() || at.IsLinkLocalUnicast())
}
