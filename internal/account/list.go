package account

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/internal/api"
	"vayu/schema"
)

// Sizes of a page of a list (CONTRACT 2).
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// parameters reads a query. Parameters that do not exist are refused, and those
// that stand twice or are empty: who misspells a filter must not get everything.
func parameters(raw string, allowed ...string) (map[string]string, error) {
	var f faults
	out := map[string]string{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		left, right, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(left)
		value, err2 := url.QueryUnescape(right)
		_, twice := out[name]
		switch shown := printable(name); {
		case err != nil:
			f.add("", "The query's percent-encoding is broken.")
		case !slices.Contains(allowed, name):
			f.add(shown, "There is no parameter "+shown+".")
		case twice:
			f.add(name, "The parameter "+name+" is there twice.")
		case err2 != nil:
			f.add(name, "The percent-encoding of the parameter "+name+" is broken.")
		case value == "":
			f.add(name, "The parameter "+name+" is empty.")
		}
		if len(f) == mostFaults {
			break
		}
		out[name] = value
	}
	return out, f.problem()
}

// mostFaults bounds a reply about a query of nothing but faults.
const mostFaults = 20

// printable makes a client's own name of a parameter fit for a reply.
func printable(name string) string {
	const longest = 40
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
	if runes := []rune(name); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return name
}

// limitOf reads the parameter limit.
func (f *faults) limitOf(params map[string]string) int {
	text, ok := params["limit"]
	if !ok {
		return defaultLimit
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit || text[0] == '+' {
		f.add("limit", "The limit lies between 1 and "+strconv.Itoa(maxLimit)+".")
	}
	return limit
}

// A cursor is the sealed name of the last entry of a page: only the list that
// gave it, of the same account and world and with the same filter, opens it.
func (s *Service) cursor(c *api.Call, list, last string) *string {
	text := base64.RawURLEncoding.EncodeToString(s.Box.Seal([]byte(last), aboutCursor(c, list)))
	return &text
}

func aboutCursor(c *api.Call, list string) string {
	return "cursor:" + c.Account + "/" + c.World.String() + "/" + list
}

// after reads the parameter cursor; "" when there is none.
func (s *Service) after(f *faults, c *api.Call, list string, params map[string]string) string {
	text, ok := params["cursor"]
	if !ok {
		return ""
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil {
		var last []byte
		if last, err = s.Box.Open(sealed, aboutCursor(c, list)); err == nil {
			return string(last)
		}
	}
	f.add("cursor", "The cursor is not one that this list has given.")
	return ""
}

// page makes the reply of a list from rows of which there is one more than the
// limit when there are more; name gives the cursor after an entry.
func page[R, W any](rows []R, limit int, wire func(R) (W, error), name func(R) *string) (api.Response, error) {
	list := schema.List[W]{Status: schema.Success, Data: []W{}}
	if len(rows) > limit {
		rows = rows[:limit]
		list.HasMore, list.NextCursor = true, name(rows[limit-1])
	}
	for _, row := range rows {
		one, err := wire(row)
		if err != nil {
			return api.Response{}, err
		}
		list.Data = append(list.Data, one)
	}
	return api.Response{Value: list}, nil
}

// day reads a date.
func day(text string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil && len(text) == len(time.DateOnly)
}
