package query_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/geo"
)

// boxPage is a page of the reply to bbox.
type boxPage struct {
	Status string
	Data   []json.RawMessage
	More   bool    `json:"has_more"`
	Next   *string `json:"next_cursor"`
	Kinds  []string
}

// boxed returns the records in all pages of a reply to bbox.
func (w *fixture) boxed(t *testing.T, path string) (records []string) {
	t.Helper()
	for next := path; next != ""; {
		var page boxPage
		_, body := w.getInto(t, next, &page)
		if page.Status != schema.Success {
			t.Fatalf("%s: got %q, want %q: %s", next, page.Status, schema.Success, body)
		}
		for _, r := range page.Data {
			records = append(records, string(r))
		}
		if next = ""; page.More {
			next = path + "&cursor=" + url.QueryEscape(*page.Next)
		}
	}
	return records
}

func TestCitiesInABox(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.station(t, w.live, "sensor-surat", "Surat", "Gujarat", 21.17, 72.83, figure{at: hour, aqi: 90})
	w.kind(t, w.live, "sensor-surat", air.Sensor)
	w.rollup(t, w.live, hour)
	w.refresh(t)
	const (
		current = "Aurangabad, Bihar|Aurangabad, Maharashtra|Delhi|Kanpur|Kochi|Pune|Sri Vijaya Puram"
		recent  = "Aurangabad, Bihar|Aurangabad, Maharashtra|Delhi|Pune|Sri Vijaya Puram"
	)
	for query, want := range map[string]string{
		"bbox=76.8,28.4,77.4,28.9":                     "Delhi",
		"bbox=+77.0,+28.0,77.5,+29.0":                  "Delhi",
		"bbox=-180,-90,180,90":                         current,
		"bbox=68,6,98,38":                              current,
		"bbox=68,6,98,38&interval=day&kinds=reference": current,
		"bbox=68,6,98,38&limit=1":                      current,
		"bbox=68,6,98,38&limit=3&view=detail":          current,
		"bbox=68,6,98,38&max_age=7200&limit=2":         recent,
		"bbox=68,6,98,38&kinds=sensor":                 "Surat",
		"bbox=68,6,98,38&kinds=sensor&max_age=60":      "",
		"bbox=68,6,98,38&date=2026-11-19&limit=1":      "Delhi|Pune",
		"bbox=68,6,98,38&date=2001-01-01":              "",
		"bbox=0,0,1,1":                                 "",
		"bbox=73.8135,18.4975,73.8135,18.4975":         "Pune",
		"bbox=70,10,75,19&scale=us":                    "Pune",
	} {
		t.Run(query, func(t *testing.T) {
			names := []string{}
			for _, text := range w.boxed(t, "/v1/aqi?"+query) {
				names = append(names, record(t, text).City)
			}
			if got := strings.Join(names, "|"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A record of a box is the record of its city, with a position in the box.
func TestARecordOfABoxIsThatOfItsCity(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, query := range []string{"view=detail", "date=2026-11-19", "date=2026-11-19&view=detail", "scale=us", "scale=in&date=2026-11-18", "kinds=reference,sensor"} {
		t.Run(query, func(t *testing.T) {
			records := w.boxed(t, "/v1/aqi?bbox=70,10,78,29&"+query)
			for _, text := range records {
				var at struct{ Latitude, Longitude float64 }
				decode(t, text, &at)
				if !geo.InIndia(at.Latitude, at.Longitude) {
					t.Errorf("position %v, want one in India: %s", at, text)
				}
				same, position, _ := strings.Cut(text, `,"latitude":`)
				if position == "" {
					t.Errorf("got %s, want a position", text)
				}
				_, _, want := w.get(t, "/v1/aqi?city="+url.QueryEscape(record(t, text).City)+"&"+query)
				if got := same + "}"; got != want {
					t.Errorf("got %s without the position, want %s", got, want)
				}
			}
			if len(records) == 0 {
				t.Error("no records")
			}
		})
	}
}

// A page counts one call for each of its records, and at least one.
func TestABoxCountsOneCallPerRecord(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.serveWithQuota(t, 12)
	for _, q := range []struct {
		path   string
		status int
		used   string
	}{
		{"/v1/aqi?bbox=0,0,1,1", 200, "1"},
		{"/v1/aqi?bbox=68,6,98,38&limit=3", 200, "4"},
		{"/v1/aqi?bbox=68,6,98,38&limit=3", 200, "7"}, // from memory
		{"/v1/aqi?bbox=68,6,98,38", 429, "7"},         // seven cities
		{"/v1/aqi?bbox=68,6,98,38&limit=3", 200, "10"},
		{"/v1/aqi?bbox=68,6,98,38&limit=3", 429, "10"},
		{"/v1/aqi?bbox=70,10,75,19", 200, "11"},
		{"/v1/aqi?bbox=68,6,38,98", 400, "12"},
	} {
		if status, header, text := w.get(t, q.path); status != q.status || header.Get("X-Quota-Used") != q.used {
			t.Errorf("%s: %d and %q used, want %d and %s: %s", q.path, status, header.Get("X-Quota-Used"), q.status, q.used, text)
		}
	}
}

func TestABoxHasTheAgeOfItsOldestRecord(t *testing.T) {
	t.Parallel()
	w := india(t)
	for query, want := range map[string][2]string{
		"bbox=68,6,98,38&max_age=7200": {"2520", ""}, "bbox=76.8,26,81,29": {"182520", "true"}, "bbox=0,0,1,1": {"", ""},
	} {
		t.Run(query, func(t *testing.T) {
			_, h, body := w.get(t, "/v1/aqi?"+query)
			if got := [2]string{h.Get("X-SERVICE-Data-Age"), h.Get("X-SERVICE-Stale")}; got != want {
				t.Errorf("got age and stale %q, want %q: %s", got, want, body)
			}
			if status, _, _ := w.get(t, "/v1/aqi?"+query, "If-None-Match", h.Get("ETag")); status != http.StatusNotModified {
				t.Errorf("got status %d for the ETag of the reply, want 304", status)
			}
		})
	}
}

func TestInvalidBoxes(t *testing.T) {
	t.Parallel()
	w := india(t)
	const box = "bbox=76.8,28.4,77.4,28.9"
	var page boxPage
	if _, body := w.getInto(t, "/v1/aqi?bbox=68,6,98,38&limit=1", &page); page.Next == nil {
		t.Fatalf("no next_cursor: %s", body)
	}
	w.rejects(t, "/v1/aqi?", map[string]rejection{
		"bbox=170,-10,-170,10":                 {schema.InvalidRequest, "bbox", "date line"},
		"bbox=28.4,76.8,28.9,77.4":             {schema.InvalidRequest, "bbox", "begins with a latitude"},
		"bbox=76.8,28.9,77.4,28.4":             {schema.InvalidRequest, "bbox", "south above its north"},
		"bbox=76.8,28.4,77.4,1e9":              {schema.InvalidRequest, "bbox", "west,south,east,north"},
		"bbox=76.8,28.4,77.4":                  {schema.InvalidRequest, "bbox", "west,south,east,north"},
		"bbox=":                                {schema.InvalidRequest, "bbox", "empty"},
		box + "&" + box:                        {schema.InvalidRequest, "bbox", "once"},
		box + "&city=Delhi":                    {schema.ConflictingParameters, "bbox", "only one of city"},
		box + "&lat=28&lon=77":                 {schema.ConflictingParameters, "bbox", "only one of city"},
		box + "&cities=Delhi,Pune":             {schema.ConflictingParameters, "bbox", "only one of city"},
		box + "&station=cpcb-mandir-marg":      {schema.ConflictingParameters, "bbox", "only one of city"},
		box + "&from=2026-11-01&to=2026-11-02": {schema.ConflictingParameters, "bbox", "A range requires one city"},
		box + "&interval=hour":                 {schema.InvalidRequest, "interval", "from and to"},
		box + "&date=2026-11-21":               {schema.InvalidRequest, "date", "future"},
		box + "&limit=101":                     {schema.InvalidRequest, "limit", "1 to 100"},
		box + "&limit=0":                       {schema.InvalidRequest, "limit", "1 to 100"},
		box + "&limit=ten":                     {schema.InvalidRequest, "limit", "1 to 100"},
		box + "&cursor=rubbish":                {schema.InvalidRequest, "cursor", "next_cursor"},
		box + "&cursor=" + *page.Next:          {schema.InvalidRequest, "cursor", "next_cursor"},
		box + "&format=geojson":                {schema.InvalidRequest, "format", "no parameter format"},
		"city=Delhi&limit=5":                   {schema.ConflictingParameters, "limit", "requires bbox"},
		"city=Delhi&cursor=" + *page.Next:      {schema.ConflictingParameters, "cursor", "requires bbox"},
		"bbx=76.8,28.4,77.4,28.9":              {schema.InvalidRequest, "bbx", "Did you mean bbox?"},
	})
	if status, _, body := w.get(t, "/v1/aqi?city=Delhi&limit=100"); status != http.StatusOK || body != delhi {
		t.Errorf("got status %d and %s for the default of limit, want %s", status, body, delhi)
	}
}
