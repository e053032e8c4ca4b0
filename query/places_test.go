package query_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	for q, want := range map[string]string{
		"q=delhi&limit=4":                   "city Delhi 266|state Delhi none|station cpcb-anand-vihar 331|station cpcb-mandir-marg 200",
		"q=Dehli&type=city":                 "city Delhi 266",
		"q=दिल्ली&type=city":                "city Delhi 266",
		"q=पुणे&type=city":                  "city Pune 95",
		"q=poona&type=city":                 "city Pune 95",
		"q=aurangabad&type=city":            "city Aurangabad, Bihar 120|city Aurangabad, Maharashtra 80",
		"q=Aurangabad+Bihar":                "city Aurangabad, Bihar 120|station cpcb-aurangabad-b 120",
		"q=Maharastra&type=state":           "state Maharashtra none",
		"q=Orissa":                          "state Odisha none",
		"q=mandir+marg":                     "station cpcb-mandir-marg 200",
		"q=mandr":                           "station cpcb-mandir-marg 200",
		"q=kanpur&type=city":                "city Kanpur 300",
		"q=byrnihat&type=city":              "city Byrnihat none",
		"q=दिल्ली&type=state":               "state Delhi none",
		"q=महाराष्ट्र&limit=1":              "state Maharashtra none",
		"q=দিল্লি&limit=1":                  "city Delhi 266",
		"q=MH&type=state":                   "state Maharashtra none",
		"q=Aurangabad,+Maharashtra&limit=1": "city Aurangabad, Maharashtra 80",
		"q=Aurangabad+Bihar&limit=1":        "city Aurangabad, Bihar 120",
		"q=" + strings.Repeat("अ", 200):     "",
		"q=411004":                          "pincode 411004 none",
		"q=411+004":                         "pincode 411004 none",
		"q=४११००४":                          "pincode 411004 none",
		"q=4110&limit=2":                    "pincode 411001 none|pincode 411002 none",
		"q=411004&type=city":                "",
		"q=999999":                          "",
		"q=atlantis":                        "",
		"q=Robert')+DROP+TABLE--":           "",
	} {
		t.Run(q, func(t *testing.T) {
			values, err := url.ParseQuery(q)
			if err != nil {
				t.Fatal(err)
			}
			path := "/v1/places?" + values.Encode()
			var reply air.PlaceReply
			h, _ := w.getInto(t, path, &reply)
			var got []string
			for _, e := range reply.Data {
				aqi := "none"
				if e.AQI != nil {
					aqi = strconv.Itoa(*e.AQI)
				}
				got = append(got, e.Type+" "+e.ID+" "+aqi)
			}
			if strings.Join(got, "|") != want {
				t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
			}
			if status, _, _ := w.get(t, path, "If-None-Match", h.Get("ETag")); status != http.StatusNotModified {
				t.Errorf("got status %d for the ETag of the reply, want 304", status)
			}
		})
	}
}

// Every place that is found has a position, and its id is valid in other requests.
func TestIDsOfPlacesAreValidParameters(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	for q, path := range map[string]string{
		"pune&type=city": "/v1/aqi?city=", "110001": "/v1/aqi?pincode=", "bihar&type=state": "/v1/cities?state=", "karve": "/v1/stations/",
	} {
		t.Run(q, func(t *testing.T) {
			var reply air.PlaceReply
			if _, body := w.getInto(t, "/v1/places?q="+q+"&limit=1", &reply); len(reply.Data) != 1 {
				t.Fatalf("got %d places, want 1: %s", len(reply.Data), body)
			}
			if status, _, body := w.get(t, path+url.QueryEscape(reply.Data[0].ID)); status != http.StatusOK {
				t.Errorf("got status %d for the id of %s: %s", status, reply.Data[0].ID, body)
			}
		})
	}
}

func TestPlacesRejectBadValues(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	for query, want := range map[string][2]string{
		"":                              {"q", "missing"},
		"q=":                            {"q", "empty"},
		"q=%00":                         {"q", "control character"},
		"q=Del%ffhi":                    {"q", "not UTF-8"},
		"q=" + strings.Repeat("अ", 201): {"q", "at most 200 characters"},
		"q=...":                         {"q", "letter or digit"},
		"q=" + strings.Repeat("a", 201): {"q", "at most 200 characters"},
		"q=pune&type=cities":            {"type", "city, state, station or pincode"},
		"q=pune&type=citty":             {"type", "Did you mean city?"},
		"q=pune&limit=0":                {"limit", "from 1 to 50"},
		"q=pune&limit=51":               {"limit", "from 1 to 50"},
		"q=pune&limit=x":                {"limit", "from 1 to 50"},
		"q=pune&query=x":                {"query", "no parameter"},
		"q=pune&q=delhi":                {"q", "once"},
	} {
		t.Run(query, func(t *testing.T) {
			status, h, body := w.get(t, "/v1/places?"+query)
			checkProblem(t, status, h, body, schema.InvalidRequest, want[0])
			if !strings.Contains(body, want[1]) {
				t.Errorf("got %s, want a message with %q", body, want[1])
			}
		})
	}
}

// A station that has a new name is found by it, although no station was added or relocated.
func TestPlacesFollowNewNames(t *testing.T) {
	t.Parallel()
	w := india(t)
	search := func(q string) string {
		_, _, body := w.get(t, "/v1/places?type=station&q="+q)
		return body
	}
	if got := search("chandni"); !strings.Contains(got, `"data":[]`) {
		t.Fatalf("got %s before the station has the name", got)
	}
	w.exec(t, "INSERT INTO "+w.live+".station SELECT * REPLACE ('Chandni Chowk' AS name, last_seen + 1 AS last_seen) FROM "+w.live+".station FINAL WHERE id = 'cpcb-mandir-marg'")
	w.rollup(t, w.live, hour)
	w.refresh(t)
	if got := search("chandni"); !strings.Contains(got, `"id":"cpcb-mandir-marg","name":"Chandni Chowk"`) {
		t.Errorf("got %s, want the station by its new name", got)
	}
}

// Names are found without the file of pin codes. Digits are unavailable, not unknown.
func TestPlacesWithoutPinCodes(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w, func(c *query.Config) { c.PinFile = filepath.Join(t.TempDir(), "missing") })
	if status, _, body := w.get(t, "/v1/places?q=pune"); status != http.StatusOK {
		t.Errorf("got status %d for a name: %s", status, body)
	}
	status, h, body := w.get(t, "/v1/places?q=411004")
	checkProblem(t, status, h, body, schema.ServiceUnavailable, "q")
}

// The sandbox has its own places.
func TestPlacesOfTheSandbox(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.key = sandboxKey
	_, _, body := w.get(t, "/v1/places?q=mandir")
	if !strings.Contains(body, `"data":[]`) {
		t.Errorf("got %s, want no station of the live world", body)
	}
}
