package query_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vayu/query"
	"vayu/schema"
)

// TestInvalidQueries sends invalid queries over a real socket. Each gets the
// contract's error, never a 500 or a wrong city.
func TestInvalidQueries(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w, func(c *query.Config) {})
	many := func(n int) string { return strings.TrimSuffix(strings.Repeat("Delhi,", n), ",") }
	for name, c := range map[string]struct {
		query string
		code  schema.Code
		field string
	}{
		"nothing":                  {"", schema.InvalidRequest, "city"},
		"only ampersands":          {"&&&", schema.InvalidRequest, "city"},
		"empty city":               {"city=", schema.InvalidRequest, "city"},
		"city without value":       {"city", schema.InvalidRequest, "city"},
		"blank city":               {"city=%20%20", schema.InvalidRequest, "city"},
		"plus only":                {"city=+", schema.InvalidRequest, "city"},
		"doubled city":             {"city=Delhi&city=Pune", schema.InvalidRequest, "city"},
		"doubled same city":        {"city=Delhi&city=Delhi", schema.InvalidRequest, "city"},
		"doubled by escape":        {"city=Delhi&%63ity=Pune", schema.InvalidRequest, "city"},
		"doubled date":             {"city=Delhi&date=2026-11-01&date=2026-11-02", schema.InvalidRequest, "date"},
		"unknown city":             {"city=Atlantis", schema.LocationNotFound, "city"},
		"part of a city":           {"city=Del", schema.LocationNotFound, "city"},
		"10,000 characters":        {"city=" + strings.Repeat("a", 10_000), schema.InvalidRequest, "city"},
		"bad UTF-8":                {"city=Del%ffhi", schema.InvalidRequest, "city"},
		"overlong UTF-8":           {"city=%c0%80Delhi", schema.InvalidRequest, "city"},
		"raw bad UTF-8":            {"city=Delhi\xff", schema.InvalidRequest, "city"},
		"NUL":                      {"city=Delhi%00", schema.InvalidRequest, "city"},
		"NUL in front":             {"city=%00Delhi", schema.InvalidRequest, "city"},
		"line break":               {"city=Delhi%0d%0aX-Evil:%201", schema.InvalidRequest, "city"},
		"tab":                      {"city=Del%09hi", schema.InvalidRequest, "city"},
		"bidi separator":           {"city=Delhi%e2%80%a8", schema.InvalidRequest, "city"},
		"broken escape":            {"city=%zz", schema.InvalidRequest, "city"},
		"cut escape":               {"city=Delhi%2", schema.InvalidRequest, "city"},
		"SQL":                      {"city=" + url.QueryEscape("Delhi'; DROP TABLE city_hour; --"), schema.LocationNotFound, "city"},
		"SQL always true":          {"city=" + url.QueryEscape("Delhi' OR '1'='1"), schema.LocationNotFound, "city"},
		"a quote":                  {"city=" + url.QueryEscape("Delhi'"), schema.LocationNotFound, "city"},
		"markup":                   {"city=" + url.QueryEscape("<script>alert(1)</script>"), schema.LocationNotFound, "city"},
		"markup around":            {"city=" + url.QueryEscape("<b>Delhi</b>"), schema.LocationNotFound, "city"},
		"template":                 {"city=" + url.QueryEscape("{{7*7}}a"), schema.LocationNotFound, "city"},
		"path":                     {"city=" + url.QueryEscape("../../etc/passwd"), schema.LocationNotFound, "city"},
		"wildcard":                 {"city=Del%25", schema.LocationNotFound, "city"},
		"star":                     {"city=*", schema.InvalidRequest, "city"},
		"digits for a city":        {"city=12345", schema.InvalidRequest, "city"},
		"semicolon":                {"city=Delhi;pincode=110001", schema.LocationNotFound, "city"},
		"homonym":                  {"city=Aurangabad", schema.AmbiguousLocation, "city"},
		"Hindi homonym":            {"city=" + url.QueryEscape("औरंगाबाद"), schema.AmbiguousLocation, "city"},
		"wrong state":              {"city=" + url.QueryEscape("Delhi, Goa"), schema.LocationNotFound, "city"},
		"known, no data":           {"city=Chennai", schema.NoData, "city"},
		"station, no data":         {"city=Byrnihat", schema.NoData, "city"},
		"other world's city":       {"city=Sri%20Vijaya", schema.LocationNotFound, "city"},
		"typo in the name":         {"citty=Delhi", schema.InvalidRequest, "citty"},
		"upper-case name":          {"CITY=Delhi", schema.InvalidRequest, "CITY"},
		"a key in the query":       {"city=Delhi&api_key=x", schema.InvalidRequest, "api_key"},
		"array style":              {"city[]=Delhi", schema.InvalidRequest, "city[]"},
		"city and pincode":         {"city=Delhi&pincode=110001", schema.ConflictingParameters, "pincode"},
		"city and cities":          {"city=Delhi&cities=Pune", schema.ConflictingParameters, "cities"},
		"city and position":        {"city=Delhi&lat=28&lon=77", schema.ConflictingParameters, "lon"},
		"lat alone":                {"lat=28.6", schema.InvalidRequest, "lon"},
		"lon alone":                {"lon=77.2", schema.InvalidRequest, "lat"},
		"lat and lon swapped":      {"lat=77.2&lon=28.6", schema.InvalidRequest, "lat"},
		"swapped, with a date":     {"lat=77.2&lon=28.6&date=2026-11-01", schema.InvalidRequest, "lat"},
		"lat too far":              {"lat=91&lon=77", schema.InvalidRequest, "lat"},
		"lat not a number":         {"lat=NaN&lon=77", schema.InvalidRequest, "lat"},
		"lat infinite":             {"lat=Inf&lon=77", schema.InvalidRequest, "lat"},
		"lat in hex":               {"lat=0x1p4&lon=77", schema.InvalidRequest, "lat"},
		"lat with exponent":        {"lat=1e400&lon=77", schema.InvalidRequest, "lat"},
		"out at sea":               {"lat=0&lon=0", schema.NoStationNearby, "lat"},
		"five digits":              {"pincode=11000", schema.InvalidRequest, "pincode"},
		"seven digits":             {"pincode=1100011", schema.InvalidRequest, "pincode"},
		"leading zero":             {"pincode=011001", schema.InvalidRequest, "pincode"},
		"letters in a pin":         {"pincode=11000a", schema.InvalidRequest, "pincode"},
		"blank in a pin":           {"pincode=110%20001", schema.InvalidRequest, "pincode"},
		"sign in a pin":            {"pincode=-11001", schema.InvalidRequest, "pincode"},
		"Devanagari pin":           {"pincode=" + url.QueryEscape("११०००१"), schema.InvalidRequest, "pincode"},
		"full-width pin":           {"pincode=" + url.QueryEscape("１１０００１"), schema.InvalidRequest, "pincode"},
		"pin not in use":           {"pincode=999999", schema.LocationNotFound, "pincode"},
		"pin far from all":         {"pincode=682551", schema.NoStationNearby, "pincode"}, // Lakshadweep
		"date that does not exist": {"city=Delhi&date=2026-02-30", schema.InvalidRequest, "date"},
		"no leap year":             {"city=Delhi&date=2025-02-29", schema.InvalidRequest, "date"},
		"month 13":                 {"city=Delhi&date=2026-13-01", schema.InvalidRequest, "date"},
		"day 0":                    {"city=Delhi&date=2026-01-00", schema.InvalidRequest, "date"},
		"short date":               {"city=Delhi&date=2026-1-1", schema.InvalidRequest, "date"},
		"other order":              {"city=Delhi&date=01-11-2026", schema.InvalidRequest, "date"},
		"with a time":              {"city=Delhi&date=2026-11-01T00:00:00Z", schema.InvalidRequest, "date"},
		"a word":                   {"city=Delhi&date=yesterday", schema.InvalidRequest, "date"},
		"Devanagari date":          {"city=Delhi&date=" + url.QueryEscape("२०२६-११-०१"), schema.InvalidRequest, "date"},
		"tomorrow in India":        {"city=Delhi&date=2026-11-21", schema.InvalidRequest, "date"},
		"far future":               {"city=Delhi&date=9999-12-31", schema.InvalidRequest, "date"},
		"empty date":               {"city=Delhi&date=", schema.InvalidRequest, "date"},
		"before all data":          {"city=Delhi&date=1947-08-15", schema.NoData, "date"},
		"year 0":                   {"city=Delhi&date=0000-01-01", schema.NoData, "date"},
		"date without a place":     {"date=2026-11-01", schema.InvalidRequest, "city"},
		"date and range":           {"city=Delhi&date=2026-11-01&from=2026-11-01&to=2026-11-02", schema.ConflictingParameters, "date"},
		"from alone":               {"city=Delhi&from=2026-11-01", schema.InvalidRequest, "to"},
		"to alone":                 {"city=Delhi&to=2026-11-01", schema.InvalidRequest, "from"},
		"reversed range":           {"city=Delhi&from=2026-11-02&to=2026-11-01", schema.InvalidRequest, "from"},
		"range into the future":    {"city=Delhi&from=2026-11-02&to=2026-12-01", schema.InvalidRequest, "to"},
		"367 days":                 {"city=Delhi&from=2025-01-01&to=2026-01-02", schema.InvalidRequest, "to"},
		"32 days of hours":         {"city=Delhi&from=2026-10-01&to=2026-11-01&interval=hour", schema.InvalidRequest, "to"},
		"other interval":           {"city=Delhi&from=2026-11-01&to=2026-11-02&interval=week", schema.InvalidRequest, "interval"},
		"hours alone":              {"city=Delhi&interval=hour", schema.InvalidRequest, "interval"},
		"hours of a date":          {"city=Delhi&date=2026-11-01&interval=hour", schema.ConflictingParameters, "interval"},
		"unknown scale":            {"city=Delhi&scale=usa", schema.InvalidRequest, "scale"},
		"two scales":               {"city=Delhi&scale=us&scale=eu", schema.InvalidRequest, "scale"},
		"unknown kind":             {"city=Delhi&kinds=satellite", schema.InvalidRequest, "kinds"},
		"no kind":                  {"city=Delhi&kinds=reference,", schema.InvalidRequest, "kinds"},
		"series are no kind":       {"city=Delhi&kinds=city_mean", schema.InvalidRequest, "kinds"},
		"negative age":             {"city=Delhi&max_age=-1", schema.InvalidRequest, "max_age"},
		"age with a unit":          {"city=Delhi&max_age=1h", schema.InvalidRequest, "max_age"},
		"age of a date":            {"city=Delhi&max_age=60&date=2026-11-01", schema.ConflictingParameters, "max_age"},
		"older than allowed":       {"city=Delhi&max_age=60", schema.NoCurrentData, "max_age"},
		"position older":           {"lat=28.6&lon=77.2&max_age=0", schema.NoCurrentData, "max_age"},
		"range of several cities":  {"cities=Delhi,Pune&from=2026-11-01&to=2026-11-02", schema.ConflictingParameters, "cities"},
		"range with a view":        {"city=Delhi&view=detail&from=2026-11-01&to=2026-11-02", schema.ConflictingParameters, "view"},
		"range without data":       {"city=Delhi&from=2001-11-01&to=2001-11-02", schema.NoData, "from"},
		"other view":               {"city=Delhi&view=full", schema.InvalidRequest, "view"},
		"101 cities":               {"cities=" + many(101), schema.TooManyLocations, "cities"},
		"2,000 cities":             {"cities=" + many(2000), schema.TooManyLocations, "cities"},
		"empty item":               {"cities=Delhi,,Pune", schema.InvalidRequest, "cities"},
		"comma at the end":         {"cities=Delhi,", schema.InvalidRequest, "cities"},
		"only a comma":             {"cities=,", schema.InvalidRequest, "cities"},
		"empty cities":             {"cities=", schema.InvalidRequest, "cities"},
		"NUL in the list":          {"cities=Delhi,Pu%00ne", schema.InvalidRequest, "cities"},
	} {
		t.Run(name, func(t *testing.T) {
			q := strings.ReplaceAll(c.query, " ", "%20")
			status, h, body := w.get(t, "/v1/aqi?"+q)
			checkProblem(t, status, h, body, c.code, c.field)
		})
	}
}

// rejection is the expected problem of a request. text is a part of its message.
type rejection struct {
	code        schema.Code
	field, text string
}

// rejects sends each request, whose path begins with prefix, and compares its problem.
func (w *fixture) rejects(t *testing.T, prefix string, requests map[string]rejection) {
	t.Helper()
	for request, want := range requests {
		t.Run(prefix+request, func(t *testing.T) {
			status, h, body := w.get(t, prefix+request)
			checkProblem(t, status, h, body, want.code, want.field)
			if !strings.Contains(body, want.text) {
				t.Errorf("got %s, want a message with %q", body, want.text)
			}
		})
	}
}

func checkProblem(t *testing.T, status int, h http.Header, body string, code schema.Code, field string) {
	t.Helper()
	var got schema.ProblemBody
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	if got.Error.Code != code || status != code.Status() || got.Error.Field != field {
		t.Errorf("got %d %s of %q, want %d %s of %q: %s", status, got.Error.Code, got.Error.Field, code.Status(), code, field, body)
	}
	if got.Status != "error" || got.Message == "" || got.Message != got.Error.Message {
		t.Errorf("got the status %q and the message %q, want error and that of the problem: %s", got.Status, got.Message, body)
	}
	if id := h.Get("X-Request-Id"); id == "" || got.Error.RequestID != id {
		t.Errorf("request id %q in the header, %q in the body", id, got.Error.RequestID)
	}
	if h.Get("Content-Type") != "application/json" || strings.ContainsAny(body, "<>") {
		t.Errorf("the reply could be taken for a page: %s %s", h.Get("Content-Type"), body)
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		"city=Delhi", "pincode=110001", "cities=Delhi,Pune&date=2026-01-01", "lat=1.5&lon=-77", "city=%zz", "&=&%=%",
		"city=Delhi&from=2026-01-01&to=2026-02-01&interval=hour&view=detail", "city=\xff", "city=%e0%a4%a6",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if err := query.CheckQuery(raw, now); err != nil {
			var p *schema.Problem
			if !asProblem(err, &p) {
				t.Fatalf("%q: got error %v, want a problem", raw, err)
			}
			if p.Code.Status() != http.StatusBadRequest || p.Message == "" {
				t.Errorf("%q: got %s with the message %q, want a code of status 400 and a message", raw, p.Code, p.Message)
			}
		}
	})
}
