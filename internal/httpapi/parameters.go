package httpapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"vayu/schema"
	"vayu/schema/spelling"
)

// parameters parses the query of a request. It rejects unknown, repeated and empty parameters. If it ignored an unknown
// one, a request with a misspelled filter would return all data. The error is a *schema.Problem with up to 20 faults.
func parameters(raw string, allowed []string) (map[string]string, error) {
	var faults []schema.ProblemDetail
	fault := func(field, message string) {
		faults = append(faults, schema.ProblemDetail{Field: field, Code: schema.InvalidRequest, Message: message})
	}
	out := map[string]string{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		left, right, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(left)
		value, err2 := url.QueryUnescape(right)
		_, twice := out[name]
		switch shown := Printable(name); {
		case err != nil:
			fault("", "The percent-encoding of the query is invalid.")
		case !slices.Contains(allowed, name):
			fault(shown, "There is no parameter "+shown+"."+spelling.DidYouMean(name, allowed))
		case twice:
			fault(name, "The parameter "+name+" occurs more than once.")
		case err2 != nil:
			fault(name, "The percent-encoding of the parameter "+name+" is invalid.")
		case value == "":
			fault(name, "The parameter "+name+" is empty.")
		}
		if len(faults) == mostFaults {
			break
		}
		out[name] = value
	}
	return out, schema.NewProblemOf(faults)
}

// mostFaults limits the number of faults in a reply, because a query can have thousands.
const mostFaults = 20

// Printable returns a client's parameter name for a reply: without unprintable characters, and cut to 40 characters.
func Printable(name string) string {
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

// Entries per page of a list: the default, and the most that a client can request.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// PageSize returns the entries per page from the parameter "limit": 1 to 1000. The default is 100. An invalid
// value yields a problem.
func PageSize(params map[string]string) (int, *schema.Problem) {
	text, ok := params["limit"]
	if !ok {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit || text[0] == '+' {
		return 0, schema.NewProblem(schema.InvalidRequest, "limit", "The limit must be a whole number from 1 to "+strconv.Itoa(maxLimit)+".")
	}
	return limit, nil
}
