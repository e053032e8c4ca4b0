package query_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/geo"
)

// listed returns the names of the cities or the ids of the stations in all pages of a list.
func (w *fixture) listed(t *testing.T, path string) []string {
	t.Helper()
	found := []string{}
	for next := path; next != ""; {
		status, _, body := w.get(t, next)
		var page schema.List[struct{ ID, Name string }]
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
			t.Fatalf("%s: status %d, %v: %s", next, status, err, body)
		}
		for _, e := range page.Data {
			if e.ID != "" {
				e.Name = e.ID
			}
			found = append(found, e.Name)
		}
		if next = ""; page.HasMore {
			next = path + "&cursor=" + *page.NextCursor
		}
	}
	return found
}

func TestFiltersOfLists(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.station(t, w.live, "sensor-delhi", "Delhi", "Delhi", 28.7, 77.1, figure{at: hour, aqi: 90})
	w.kind(t, w.live, "sensor-delhi", air.Sensor)
	w.station(t, w.live, "nowhere", "Delhi", "Delhi", 0, 0, figure{at: hour, aqi: 90})
	w.rollup(t, w.live, hour)
	w.refresh(t)
	const delhi = "bbox=76.8,28.4,77.4,28.9"
	for path, want := range map[string]string{
		"/v1/cities?" + delhi:                                           "Delhi",
		"/v1/cities?bbox=-180,-90,180,90&q=a":                           "Aurangabad, Bihar|Aurangabad, Maharashtra",
		"/v1/cities?bbox=0,0,1,1":                                       "",
		"/v1/cities?state=maharashtra":                                  "Aurangabad, Maharashtra|Pune",
		"/v1/cities?state=Maharashtra&limit=1":                          "Aurangabad, Maharashtra|Pune",
		"/v1/cities?state=Maharashtra&q=pu":                             "Pune",
		"/v1/cities?state=महाराष्ट्र":                                   "Aurangabad, Maharashtra|Pune",
		"/v1/cities?near=28.6,77.2&radius_km=500&limit=1":               "Delhi|Kanpur",
		"/v1/cities?near=18.5,73.9":                                     "Pune",
		"/v1/cities?near=0,0":                                           "",
		"/v1/cities?kind=sensor":                                        "Delhi",
		"/v1/cities?state=mh":                                           "Aurangabad, Maharashtra|Pune",
		"/v1/stations?state=DL&kind=sensor":                             "sensor-delhi",
		"/v1/cities?q=দিল্লি":                                           "Delhi",
		"/v1/cities?q=Aurangabad,+Maha":                                 "Aurangabad, Maharashtra",
		"/v1/cities?state=UTTAR-PRADESH":                                "Kanpur",
		"/v1/cities?state=NCT+of+Delhi":                                 "Delhi",
		"/v1/cities?state=Goa":                                          "",
		"/v1/cities?state=Maharashtra&bbox=73,18,74,19":                 "Pune",
		"/v1/stations?" + delhi:                                         "cpcb-anand-vihar|cpcb-mandir-marg|sensor-delhi",
		"/v1/stations?" + delhi + "&limit=1":                            "cpcb-anand-vihar|cpcb-mandir-marg|sensor-delhi",
		"/v1/stations?bbox=+77.2011,+28.6364,77.2011,28.6364":           "cpcb-mandir-marg",
		"/v1/stations?kind=sensor":                                      "sensor-delhi",
		"/v1/stations?kind=city_mean":                                   "",
		"/v1/stations?state=delhi":                                      "cpcb-anand-vihar|cpcb-mandir-marg|nowhere|sensor-delhi",
		"/v1/stations?state=delhi&kind=reference&limit=2":               "cpcb-anand-vihar|cpcb-mandir-marg|nowhere",
		"/v1/stations?near=28.6,77.2&kind=reference&limit=1":            "cpcb-mandir-marg|cpcb-anand-vihar",
		"/v1/stations?near=28.6,77.2&radius_km=500&state=Uttar+Pradesh": "cpcb-nehru-nagar",
		"/v1/stations?near=28.6,77.2&bbox=77.3,28,78,29":                "cpcb-anand-vihar",
	} {
		t.Run(path, func(t *testing.T) {
			if got := strings.Join(w.listed(t, path), "|"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestFiltersRejectBadValues(t *testing.T) {
	t.Parallel()
	w := india(t)
	bad := map[string]rejection{
		"bbox=1,2,3":                         {schema.InvalidRequest, "bbox", "west,south,east,north"},
		"bbox=1,2,3,4,5":                     {schema.InvalidRequest, "bbox", "west,south,east,north"},
		"bbox=":                              {schema.InvalidRequest, "bbox", "empty"},
		"bbox=76.8,28.4,77.4,NaN":            {schema.InvalidRequest, "bbox", "west,south,east,north"},
		"bbox=76.8,28.4,1e2,28.9":            {schema.InvalidRequest, "bbox", "west,south,east,north"},
		"bbox=76.8,28.4,0x4d,28.9":           {schema.InvalidRequest, "bbox", "west,south,east,north"},
		"bbox=28.4,76.8,28.9,77.4":           {schema.InvalidRequest, "bbox", "begins with a latitude"},
		"bbox=8,68,37,97":                    {schema.InvalidRequest, "bbox", "begins with a latitude"},
		"bbox=76.8,28.4,77.4,91":             {schema.InvalidRequest, "bbox", "are latitudes"},
		"bbox=-181,28.4,77.4,29":             {schema.InvalidRequest, "bbox", "are longitudes"},
		"bbox=170,-10,-170,10":               {schema.InvalidRequest, "bbox", "date line"},
		"bbox=76.8,28.9,77.4,28.4":           {schema.InvalidRequest, "bbox", "south above its north"},
		"bbox=" + strings.Repeat("1", 200):   {schema.InvalidRequest, "bbox", "west,south,east,north"},
		"bbox=1,2,3,4&bbox=1,2,3,4":          {schema.InvalidRequest, "bbox", "once"},
		"state=Maharastra":                   {schema.InvalidRequest, "state", "Did you mean Maharashtra?"},
		"state=Atlantis":                     {schema.InvalidRequest, "state", "no such state"},
		"state=" + strings.Repeat("a", 5000): {schema.InvalidRequest, "state", "no such state"},
		"state=%00":                          {schema.InvalidRequest, "state", "control character"},
		"format=xml":                         {schema.InvalidRequest, "format", "json or geojson"},
		"format=GeoJSON":                     {schema.InvalidRequest, "format", "json or geojson"},
	}
	w.rejects(t, "/v1/cities?", bad)
	w.rejects(t, "/v1/stations?", bad)
	for query, want := range map[string][2]string{
		"kind=sensors":                   {"kind", "Did you mean sensor?"},
		"kind=":                          {"kind", "empty"},
		"kind=reference,sensor":          {"kind", "reference, sensor or city_mean"},
		"near=77.2,28.6":                 {"near", "begins with a longitude"},
		"near=28.6,77.2&radius_km=20000": {"radius_km", "at most 500"},
		"near=28.6,77.2&radius_km=1e9":   {"radius_km", "at most 500"},
		"near=28.6,77.2&radius_km=-1":    {"radius_km", "more than 0"},
	} {
		t.Run(query, func(t *testing.T) {
			status, h, body := w.get(t, "/v1/stations?"+query)
			checkProblem(t, status, h, body, schema.InvalidRequest, want[0])
			if !strings.Contains(body, want[1]) {
				t.Errorf("got %s, want a message with %q", body, want[1])
			}
		})
	}
	for _, field := range []string{"bbox=1,2,3,4", "state=Goa", "kind=sensor"} {
		t.Run("own "+field, func(t *testing.T) {
			status, h, body := w.get(t, "/v1/stations?own=true&"+field)
			name, _, _ := strings.Cut(field, "=")
			checkProblem(t, status, h, body, schema.ConflictingParameters, name)
		})
	}
}

// A suggestion of a state is also a field of the error, so that an app can offer it.
func TestUnknownStateHasSuggestions(t *testing.T) {
	t.Parallel()
	w := india(t)
	_, _, body := w.get(t, "/v1/cities?state=Karnatka")
	var reply struct {
		Error struct{ Suggestions []string }
	}
	if err := json.Unmarshal([]byte(body), &reply); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Karnataka"}, reply.Error.Suggestions); diff != "" {
		t.Errorf("suggestions (-want +got):\n%s", diff)
	}
}

// geometry is a GeoJSON Point (RFC 7946, section 3.1.2).
type geometry struct {
	Type        string
	Coordinates []float64
}

// featureCollection is a page as GeoJSON (RFC 7946, section 3.3).
type featureCollection struct {
	Type     string
	Features []struct {
		Type, ID   string
		Geometry   *geometry
		Properties map[string]any
	}
	More bool    `json:"has_more"`
	Next *string `json:"next_cursor"`
}

func TestListsAsGeoJSON(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.station(t, w.live, "nowhere", "Delhi", "Delhi", 0, 0, figure{at: hour, aqi: 90})
	w.rollup(t, w.live, hour)
	w.refresh(t)
	for path, want := range map[string]struct {
		id string
		at geometry
	}{
		"/v1/cities?q=pune":                                {"Pune", geometry{"Point", []float64{73.8135, 18.4975}}},
		"/v1/stations?near=28.63,77.2&limit=1":             {"cpcb-mandir-marg", geometry{"Point", []float64{77.2011, 28.6364}}},
		"/v1/stations?state=Delhi&kind=reference&limit=10": {"cpcb-anand-vihar", geometry{"Point", []float64{77.3161, 28.6469}}},
	} {
		t.Run(path, func(t *testing.T) {
			status, h, body := w.get(t, path+"&format=geojson")
			if got := h.Get("Content-Type"); status != http.StatusOK || got != "application/geo+json" {
				t.Fatalf("status %d and type %q: %s", status, got, body)
			}
			var all featureCollection
			decode(t, body, &all)
			if all.Type != "FeatureCollection" || len(all.Features) == 0 {
				t.Fatalf("got the type %q with %d features, want a FeatureCollection with some: %s", all.Type, len(all.Features), body)
			}
			first := all.Features[0]
			if first.Type != "Feature" || first.ID != want.id {
				t.Errorf("got %s %s, want Feature %s", first.Type, first.ID, want.id)
			}
			if diff := cmp.Diff(&want.at, first.Geometry); diff != "" {
				t.Errorf("position, longitude first (-want +got):\n%s", diff)
			}
			if at := first.Geometry.Coordinates; !geo.InIndia(at[1], at[0]) {
				t.Errorf("%v is not in India, so the coordinates are in the wrong order", at)
			}
			if got := first.Properties["longitude"]; got != want.at.Coordinates[0] {
				t.Errorf("got longitude %v in the properties, want %v", got, want.at.Coordinates[0])
			}
		})
	}
	t.Run("unknown position", func(t *testing.T) {
		_, _, body := w.get(t, "/v1/stations?state=Delhi&format=geojson")
		if !strings.Contains(body, `"id":"nowhere","geometry":null,`) {
			t.Errorf("got %s, want a feature without a position", body)
		}
	})
	t.Run("paging", func(t *testing.T) {
		var got []string
		for next := "/v1/cities?format=geojson&limit=3"; next != ""; {
			_, _, body := w.get(t, next)
			var page featureCollection
			if err := json.Unmarshal([]byte(body), &page); err != nil {
				t.Fatal(err)
			}
			for _, f := range page.Features {
				got = append(got, f.ID)
			}
			if next = ""; page.More {
				next = "/v1/cities?format=geojson&limit=3&cursor=" + url.QueryEscape(*page.Next)
			}
		}
		if diff := cmp.Diff(w.listed(t, "/v1/cities?limit=3"), got); diff != "" {
			t.Errorf("cities (-list +GeoJSON):\n%s", diff)
		}
	})
	t.Run("empty", func(t *testing.T) {
		_, _, body := w.get(t, "/v1/cities?q=zz&format=geojson")
		if want := `{"type":"FeatureCollection","features":[],"has_more":false,"next_cursor":null}`; body != want {
			t.Errorf("got %s, want %s", body, want)
		}
	})
}

// A URL has one form, so that a cache never answers with the other one.
func TestFormatDoesNotFollowAccept(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, c := range []struct {
		query, accept string
		status        int
		kind          string
	}{
		{"", "application/json", 200, "application/json"},
		{"", "application/geo+json, */*;q=0.1", 200, "application/json"},
		{"", "application/geo+json", 406, "application/json"},
		{"?format=json", "application/geo+json", 406, "application/json"},
		{"?format=geojson", "application/geo+json", 200, "application/geo+json"},
		{"?format=geojson", "*/*", 200, "application/geo+json"},
		{"", "text/csv", 406, "application/json"},
	} {
		t.Run(c.query+" "+c.accept, func(t *testing.T) {
			status, h, body := w.get(t, "/v1/cities"+c.query, "Accept", c.accept)
			if status != c.status {
				t.Errorf("got status %d, want %d: %s", status, c.status, body)
			}
			if got := h.Get("Content-Type"); got != c.kind {
				t.Errorf("got type %q, want %q", got, c.kind)
			}
		})
	}
}

func TestListsHaveAnETagForEachQuery(t *testing.T) {
	t.Parallel()
	w := india(t)
	tags := map[string]string{}
	for _, path := range []string{
		"/v1/cities", "/v1/cities?format=geojson", "/v1/cities?state=Bihar", "/v1/cities?limit=2",
		"/v1/stations", "/v1/stations?format=geojson", "/v1/stations?near=28.6,77.2", "/v1/stations?state=Delhi",
	} {
		t.Run(path, func(t *testing.T) {
			_, h, _ := w.get(t, path)
			tag := h.Get("ETag")
			if tag == "" {
				t.Error("there is no ETag")
			}
			if other, seen := tags[tag]; seen {
				t.Errorf("got ETag %q, which %q has too", tag, other)
			}
			tags[tag] = path
			if status, _, body := w.get(t, path, "If-None-Match", tag); status != http.StatusNotModified || body != "" {
				t.Errorf("got status %d and %d bytes for the ETag of the reply, want 304 and none", status, len(body))
			}
			if status, _, _ := w.get(t, path, "If-None-Match", `"0000000000000000"`); status != http.StatusOK {
				t.Errorf("got status %d for another ETag, want 200", status)
			}
		})
	}
}

func TestCursorBelongsToItsFilter(t *testing.T) {
	t.Parallel()
	w := india(t)
	var page schema.List[json.RawMessage]
	if _, body := w.getInto(t, "/v1/stations?state=Delhi&limit=1", &page); page.NextCursor == nil {
		t.Fatalf("no next_cursor: %s", body)
	}
	for _, query := range []string{"state=Bihar", "state=Delhi&kind=reference", "state=Delhi&bbox=76,28,78,29", "limit=1"} {
		t.Run(query, func(t *testing.T) {
			status, h, body := w.get(t, "/v1/stations?"+query+"&cursor="+*page.NextCursor)
			checkProblem(t, status, h, body, schema.InvalidRequest, "cursor")
		})
	}
}

func TestRepliesAboutTheAirHaveETags(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, path := range []string{
		"/v1/cities", "/v1/stations", "/v1/stations?format=geojson", "/v1/places?q=delhi", "/v1/rankings", "/v1/rankings?period=year",
		"/v1/hours?hour=" + hour.Format(time.RFC3339), "/v1/stations/cpcb-mandir-marg", "/v1/stations/cpcb-mandir-marg/quality",
		"/v1/statistics?view=weekday&city=Pune",
	} {
		w.checkETag(t, path)
	}
}

// checkETag requests a path twice, the second time with the ETag of the first reply.
func (w *fixture) checkETag(t *testing.T, path string) {
	t.Helper()
	status, h, body := w.get(t, path)
	if status != http.StatusOK || h.Get("ETag") == "" {
		t.Errorf("%s: %d, ETag %q: %s", path, status, h.Get("ETag"), body)
		return
	}
	if status, _, _ = w.get(t, path, "If-None-Match", h.Get("ETag")); status != http.StatusNotModified {
		t.Errorf("%s with its ETag: %d", path, status)
	}
}

// A city near a position has its distance, and a city of the whole list has none.
func TestCitiesNearHaveADistance(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	if _, _, body := w.get(t, "/v1/cities?near=18.5,73.9&radius_km=50"); !strings.Contains(body, `"distance_km":`) {
		t.Errorf("got %s, want a distance", body)
	}
	if _, _, body := w.get(t, "/v1/cities"); strings.Contains(body, "distance_km") {
		t.Errorf("got %s, want no distance", body)
	}
	status, h, body := w.get(t, "/v1/cities?radius_km=10")
	checkProblem(t, status, h, body, schema.InvalidRequest, "radius_km")
	status, h, body = w.get(t, "/v1/cities?near=77.2,28.6")
	checkProblem(t, status, h, body, schema.InvalidRequest, "near")
}
