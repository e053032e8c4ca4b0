package alert

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/schema"
	"vayu/schema/advice"
	"vayu/schema/air"
)

// maxName is the largest number of characters of an alert's name.
const maxName = 100

// faults collects all errors of a request.
type faults struct {
	schema.RequestErrors

	suggestions, candidates []string // of an unknown place
}

// invalid adds an error with the code invalid_alert, about a field that has a valid form but an impossible value.
func (f *faults) invalid(field, message string) { f.AddAs(schema.InvalidAlert, field, message) }

// The method `about` reports whether f has an error about a field or a part of it.
func (f *faults) about(field string) bool {
	return slices.ContainsFunc(f.RequestErrors, func(d schema.ProblemDetail) bool {
		return d.Field == field || strings.HasPrefix(d.Field, field+".")
	})
}

// add adds `err` to the faults if it is about a place. It returns any other error, such as service_unavailable.
func (f *faults) add(err error) error {
	problem, ok := errors.AsType[*schema.Problem](err)
	if !ok || problem.Code.Status() >= http.StatusInternalServerError {
		return err
	}
	f.AddAs(problem.Code, problem.Field, problem.Message)
	f.suggestions, f.candidates = problem.Suggestions, problem.Candidates
	return nil
}

// problem returns all errors as one *schema.Problem; nil if there are none.
func (f *faults) problem() error {
	err := f.ProblemByStatus()
	if problem, ok := errors.AsType[*schema.Problem](err); ok {
		problem.Suggestions, problem.Candidates = f.suggestions, f.candidates
	}
	return err
}

// optional is a field that a body may leave out. It distinguishes null from a missing field.
type optional[T any] struct {
	present, null bool
	value         T
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *optional[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.present, o.null = true, d.PeekKind() == jsontext.KindNull
	return json.UnmarshalDecode(d, &o.value)
}

// body is the body of POST /v1/alerts and PATCH /v1/alerts/{id}.
type body struct {
	Name      optional[string]              `json:"name"`
	Place     optional[placeBody]           `json:"place"`
	Condition optional[conditionBody]       `json:"condition"`
	Hyst      optional[float64]             `json:"hysteresis"`
	Minimum   optional[jsontext.Value]      `json:"minimum_interval"`
	Quiet     optional[air.AlertQuietHours] `json:"quiet_hours"`
	Language  optional[string]              `json:"language"`
	Active    optional[bool]                `json:"active"`
}

type placeBody struct {
	City      *string        `json:"city"`
	Pincode   jsontext.Value `json:"pincode"`
	Latitude  *float64       `json:"lat"`
	Longitude *float64       `json:"lon"`
	Station   *string        `json:"station"`
}

type conditionBody struct {
	Metric   *string        `json:"metric"`
	Over     jsontext.Value `json:"over"`
	Under    jsontext.Value `json:"under"`
	Change   *string        `json:"change"`
	Category *string        `json:"category"`
	Day      *int           `json:"day"`
}

// patch is a valid change of a definition. The place is not resolved yet. A nil field means no change.
type patch struct {
	place  *air.AlertPlace
	active *bool
	apply  func(*Definition)
	named  bool // the body names at least one field
}

// patchOf parses a body, and adds the body's faults to f. If `whole` is true, the body must have a place and a
// condition. patchOf returns an error if the body is not a JSON object with the fields of `body`.
func (f *faults) patchOf(c *httpapi.Call, whole bool) (patch, error) {
	b, err := httpapi.Decode[body](c)
	if err != nil {
		return patch{}, err
	}
	for field, null := range map[string]bool{"name": b.Name.null, "place": b.Place.null, "condition": b.Condition.null, "hysteresis": b.Hyst.null, "minimum_interval": b.Minimum.null, "language": b.Language.null, "active": b.Active.null} {
		if null {
			f.Add(field, "The "+field+" cannot be null; leave it out.")
		}
	}
	if whole && !b.Place.present {
		f.Add("place", "An alert needs a place: city, pincode, lat and lon, or station.")
	}
	if whole && !b.Condition.present {
		f.Add("condition", "An alert needs a condition, such as {\"metric\": \"aqi\", \"over\": 300}.")
	}
	p := patch{named: b.Name.present || b.Place.present || b.Condition.present || b.Hyst.present || b.Minimum.present || b.Quiet.present || b.Language.present || b.Active.present}
	if !whole && !p.named {
		f.Add("", "Give at least one of name, place, condition, hysteresis, minimum_interval, quiet_hours, language and active.")
	}
	if b.Place.present {
		p.place = f.place(&b.Place.value)
	}
	if b.Active.present {
		p.active = &b.Active.value
	}
	interval := f.interval(b.Minimum)
	condition := f.condition(&b.Condition)
	if b.Name.present {
		f.name(b.Name.value)
	}
	if b.Hyst.present && (math.IsNaN(b.Hyst.value) || math.IsInf(b.Hyst.value, 0)) {
		f.Add("hysteresis", "The hysteresis must be a number.")
	}
	if b.Language.present {
		language, ok := advice.OfTag(b.Language.value)
		if !ok {
			f.invalid("language", "The language must be a language tag such as ta or ta-IN.")
		}
		b.Language.value = string(language)
	}
	p.apply = func(d *Definition) {
		set(&d.Name, &b.Name)
		set(&d.Hysteresis, &b.Hyst)
		set(&d.Language, &b.Language)
		if b.Condition.present {
			d.Condition = condition
		}
		if b.Minimum.present {
			d.MinimumInterval = interval
		}
		if b.Quiet.present {
			d.QuietHours = &b.Quiet.value
			if b.Quiet.null {
				d.QuietHours = nil
			}
		}
	}
	return p, nil
}

func set[T any](field *T, o *optional[T]) {
	if o.present {
		*field = o.value
	}
}

// place converts the place of a body. If its form is invalid, place adds a fault to f and returns nil.
func (f *faults) place(b *placeBody) *air.AlertPlace {
	before := len(f.RequestErrors)
	var p air.AlertPlace
	given := 0
	if b.City != nil {
		given++
		p.City = *b.City
	}
	if b.Station != nil {
		given++
		p.Station = *b.Station
	}
	if httpapi.HasValue(b.Pincode) {
		given++
		p.Pincode = strings.Trim(string(b.Pincode), `"`) // a number is accepted, too
	}
	if b.Latitude != nil || b.Longitude != nil {
		given++
		p.Latitude, p.Longitude = b.Latitude, b.Longitude
	}
	switch {
	case given == 0:
		f.Add("place", "A place is a city, a pincode, lat and lon, or a station.")
	case given > 1:
		f.AddAs(schema.ConflictingParameters, "place", "Give only one of city, pincode, lat and lon, and station.")
	case b.City != nil && (*b.City == "" || strings.IndexFunc(*b.City, unicode.IsLetter) < 0):
		f.invalid("place.city", "The name of a city has at least one letter.")
	case b.Station != nil && *b.Station == "":
		f.invalid("place.station", "The id of a station has at least one character.")
	case httpapi.HasValue(b.Pincode) && p.Pincode == "":
		f.invalid("place.pincode", "A pin code has six digits 0–9 and does not begin with 0.")
	case b.Latitude != nil && b.Longitude == nil:
		f.Add("place.lon", "A position needs a latitude and a longitude.")
	case b.Latitude == nil && b.Longitude != nil:
		f.Add("place.lat", "A position needs a latitude and a longitude.")
	}
	if len(f.RequestErrors) > before {
		return nil
	}
	return &p
}

// condition returns the condition of a body. [newRule] checks the values later.
func (f *faults) condition(o *optional[conditionBody]) (c air.AlertCondition) {
	b := &o.value
	if !o.present || o.null {
		return c
	}
	if b.Metric == nil {
		f.Add("condition.metric", "A condition needs a metric: "+schema.Join(metrics(), ", ")+".")
		return c
	}
	c.Metric = *b.Metric
	if httpapi.HasValue(b.Over) {
		c.Over = []byte(b.Over)
	}
	if httpapi.HasValue(b.Under) {
		c.Under = []byte(b.Under)
	}
	if b.Change != nil {
		c.Change = *b.Change
	}
	if b.Category != nil {
		c.Category = *b.Category
	}
	if b.Day != nil {
		c.Day = *b.Day
	}
	return c
}

// interval parses a minimum interval, a whole number of seconds or text such as 6h or 30m, and returns its seconds.
func (f *faults) interval(o optional[jsontext.Value]) int64 {
	const field = "minimum_interval"
	if !o.present || o.null {
		return 0
	}
	if o.value.Kind() == jsontext.KindString {
		text, ok := httpapi.Text(&f.RequestErrors, field, o.value)
		if !ok {
			return 0
		}
		d, err := time.ParseDuration(text)
		if err != nil || d%time.Second != 0 {
			f.invalid(field, "The minimum interval is a whole number of seconds, or text such as 30m or 6h.")
		}
		return int64(d / time.Second)
	}
	var seconds int64
	if json.Unmarshal(o.value, &seconds) != nil {
		f.Add(field, "The minimum interval must be a whole number of seconds, or text such as 6h.")
	}
	return seconds
}

func (f *faults) name(text string) {
	printable := !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) })
	if !printable || utf8.RuneCountInString(text) > maxName {
		f.invalid("name", "A name has at most 100 printable characters.")
	}
}
