// Package search answers GET /v1/places: cities, states, stations and pin codes whose names resemble a text.
package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/internal/httpapi"
	"vayu/query/param"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/naqi"
	"vayu/schema/spelling"
)

// Params returns the names of the query parameters of GET /v1/places.
func Params() []string { return []string{"q", "type", "limit"} }

// types returns the types of places. Cities, states and stations that match equally well are in this order.
func types() []string { return []string{"city", "state", "station", "pincode"} }

// These are the default and the maximum of the parameter "limit".
const (
	defaultLimit = 10
	maxLimit     = 50
)

// Request selects places. [Parse] makes it.
type Request struct {
	text  string
	kind  string // one of types; "" for all
	limit int
}

// Parse parses the parameters, which [param.Texts] has accepted. The error is a *schema.Problem.
func Parse(params map[string]string) (r Request, err error) {
	var given bool
	if r.text, given = params["q"]; !given {
		return r, param.Invalid("q", "The parameter q is missing. It is the name of a place, or a pin code.")
	}
	if utf8.RuneCountInString(r.text) > param.MaxName {
		return r, param.Invalid("q", "The parameter q must have at most "+strconv.Itoa(param.MaxName)+" characters.")
	}
	if !strings.ContainsFunc(r.text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
		return r, param.Invalid("q", "The parameter q must have at least one letter or digit.")
	}
	if r.kind, given = params["type"]; given && !slices.Contains(types(), r.kind) {
		return r, param.Invalid("type", "The type must be city, state, station or pincode."+spelling.DidYouMean(r.kind, types()))
	}
	r.limit = defaultLimit
	if text, ok := params["limit"]; ok {
		r.limit, err = param.Count("limit", text, maxLimit)
	}
	return r, err
}

// Digits returns the pin code that is searched, or its beginning, as ASCII digits without blanks. It returns "" if the
// text has other characters, or if the request is for another type of places.
func (r *Request) Digits() string {
	var b strings.Builder
	for _, c := range r.text {
		switch {
		case unicode.IsSpace(c):
		case unicode.IsDigit(c):
			b.WriteByte(digit(c))
		default:
			return ""
		}
	}
	if r.kind != "" && r.kind != "pincode" {
		return ""
	}
	return b.String()
}

// digit returns a decimal digit of an Indian script as an ASCII digit. In the Unicode block of each script, the code
// points of the digits end in hexadecimal 6 to F.
func digit(c rune) byte {
	if c >= 0x0966 && c <= 0x0d6f {
		return '0' + byte(c&0xf) - 6
	}
	if c > '9' {
		return 'x' // no pin code has it, so the search finds none
	}
	return byte(c)
}

// Answer returns the reply for a request. It lists first the pin codes `pins`, and then the other places that match.
func (x *Index) Answer(s *snapshot.Snapshot, r Request, pins []places.Pin) (resp httpapi.Response, err error) {
	reply := air.PlaceReply{Status: schema.Success, Data: []air.PlaceEntry{}}
	for _, pin := range pins {
		reply.Data = append(reply.Data, pinEntry(pin))
	}
	for _, i := range x.find(r) {
		reply.Data = append(reply.Data, x.entry(s, i))
	}
	reply.Data = reply.Data[:min(r.limit, len(reply.Data))]
	body, err := json.Marshal(reply)
	if err != nil {
		return resp, fmt.Errorf("rendering places: %w", err)
	}
	return httpapi.Ready(body, time.Time{}), nil
}

// Limit returns the largest number of places in the reply.
func (r *Request) Limit() int { return r.limit }

func pinEntry(pin places.Pin) air.PlaceEntry {
	code := strconv.Itoa(int(pin.Code))
	e := air.PlaceEntry{Type: "pincode", ID: code, Name: code}
	e.Latitude, e.Longitude = places.Degrees(pin.Position)
	if state, ok := gazetteer.State(pin.Position); ok {
		e.State = state
	}
	return e
}

// entry returns place i of the index with the figures of a snapshot.
func (x *Index) entry(s *snapshot.Snapshot, i int) air.PlaceEntry {
	var e air.PlaceEntry
	switch at := x.at[i]; at.kind {
	case "city":
		c := &s.Cities[at.number]
		e = air.PlaceEntry{Type: at.kind, ID: s.Index.Label(int(at.number)), Name: c.Name, State: c.State}
		e.Latitude, e.Longitude = places.Degrees(c.Position)
		e.AQI = snapshot.OptionalAQI(c.AQI)
	case "station":
		st := &s.Stations[at.number]
		e = air.PlaceEntry{Type: at.kind, ID: st.ID, Name: st.Name, State: st.State}
		e.Latitude, e.Longitude = places.Degrees(st.Point())
		e.AQI = snapshot.OptionalAQI(st.AQI)
	default:
		name := x.states[at.number]
		return air.PlaceEntry{Type: at.kind, ID: name, Name: name, State: name}
	}
	if e.AQI != nil {
		category := naqi.Category(*e.AQI)
		e.Category = &category
	}
	return e
}
