package query_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/query/alert"
	"vayu/schema"
	"vayu/schema/air"
)

// position returns the place of a request at a position.
func position(lat, lon float64) air.AlertPlace {
	return air.AlertPlace{Latitude: &lat, Longitude: &lon}
}

// The place of an alert is named as in records. The error of an impossible one names its field.
func TestAlertPlaces(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	for name, row := range map[string]struct {
		requested  air.AlertPlace
		key, place string
		field      string // of the error
		suggestion string
	}{
		"city":              {requested: air.AlertPlace{City: "delhi"}, key: "city/Delhi, Delhi", place: "Delhi"},
		"city in Hindi":     {requested: air.AlertPlace{City: "दिल्ली"}, key: "city/Delhi, Delhi", place: "Delhi"},
		"city with state":   {requested: air.AlertPlace{City: "Aurangabad, Bihar"}, key: "city/Aurangabad, Bihar", place: "Aurangabad, Bihar"},
		"homonym":           {requested: air.AlertPlace{City: "Aurangabad"}, field: "place.city", suggestion: "Aurangabad, Bihar"},
		"misspelt city":     {requested: air.AlertPlace{City: "Delhii"}, field: "place.city", suggestion: "Delhi"},
		"long city":         {requested: air.AlertPlace{City: strings.Repeat("Delhi", 100)}, field: "place.city"},
		"station":           {requested: air.AlertPlace{Station: "cpcb-karve-road"}, key: "station/cpcb-karve-road", place: "cpcb-karve-road name"},
		"station elsewhere": {requested: air.AlertPlace{Station: "sim-delhi"}, field: "place.station"},
		"pin code":          {requested: air.AlertPlace{Pincode: "110001"}, key: "point/28.6", place: "Delhi"},
		"short pin code":    {requested: air.AlertPlace{Pincode: "11000"}, field: "place.pincode"},
		"pin code of none":  {requested: air.AlertPlace{Pincode: "999999"}, field: "place.pincode"},
		"position":          {requested: position(18.5, 73.81), key: "point/18.5/73.81", place: "Pune"},
		"far position":      {requested: position(0, 0), field: "place.lat"},
		"latitude":          {requested: position(91, 73), field: "place.lat"},
		"longitude":         {requested: position(18, -181), field: "place.lon"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := w.service.Air().Place(t.Context(), schema.Live, row.requested)
			if row.field == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got.Name != row.place || !strings.HasPrefix(got.Key(), row.key) {
					t.Errorf("got the place %q with the key %q, want %q with %q", got.Name, got.Key(), row.place, row.key)
				}
				return
			}
			problem, ok := errors.AsType[*schema.Problem](err)
			if !ok {
				t.Fatalf("got the error %v of the place %+v, want a problem", err, got)
			}
			if problem.Code != schema.InvalidAlert || problem.Field != row.field {
				t.Fatalf("got %s at %s, want %s at %s", problem.Code, problem.Field, schema.InvalidAlert, row.field)
			}
			if offered := fmt.Sprint(problem.Suggestions, problem.Candidates); !strings.Contains(offered, row.suggestion) {
				t.Errorf("got the suggestions %s, want %q among them", offered, row.suggestion)
			}
		})
	}
}

// An alert sees the same air as a request for its place.
func TestAlertAirIsThatOfRequests(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	view := w.service.Air()
	for path, requested := range map[string]air.AlertPlace{
		"city=Delhi":          {City: "Delhi"},
		"city=Kanpur":         {City: "Kanpur"},
		"city=Kochi":          {City: "Kochi"},
		"pincode=110001":      {Pincode: "110001"},
		"pincode=411004":      {Pincode: "411004"},
		"lat=28.64&lon=77.25": position(28.64, 77.25),
	} {
		t.Run(path, func(t *testing.T) {
			place, err := view.Place(t.Context(), schema.Live, requested)
			if err != nil {
				t.Fatal(err)
			}
			_, _, body := w.get(t, "/v1/aqi?"+path)
			r := record(t, body)
			seen, ok := view.Observe(schema.Live, &place)
			figures, published := view.Published(schema.Live).Figures(&place)
			switch {
			case !ok || !published:
				t.Errorf("got figures: %t, published figures: %t, want both", ok, published)
			case int(seen.AQI) != r.AQI || int(figures.AQI) != r.AQI:
				t.Errorf("got the AQI %d, published %d, want %s", seen.AQI, figures.AQI, body)
			case !strings.Contains(body, schema.FormatTime(time.Unix(int64(seen.Updated), 0))):
				t.Errorf("got figures updated at %d, want those of %s", seen.Updated, body)
			}
		})
	}
}

// A station has its own figures, not those of its city.
func TestAlertAirOfAStation(t *testing.T) {
	t.Parallel()
	w := india(t)
	view := w.service.Air()
	place, err := view.Place(t.Context(), schema.Live, air.AlertPlace{Station: "cpcb-anand-vihar"})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := view.Observe(schema.Live, &place); !ok || got.AQI != 331 {
		t.Errorf("got the AQI %d, known %t, want 331", got.AQI, ok)
	}
}

// A place whose station or city has no figures has none for alerts.
func TestAlertPlaceWithoutAir(t *testing.T) {
	t.Parallel()
	w := india(t)
	for name, place := range map[string]alert.Place{
		"station without hours": {AlertPlace: air.AlertPlace{Station: "cpcb-silent"}},
		"unknown station":       {AlertPlace: air.AlertPlace{Station: "gone"}},
		"unknown city":          {AlertPlace: air.AlertPlace{City: "Atlantis"}},
		"position in the sea":   {AlertPlace: position(0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := w.service.Air().Observe(schema.Live, &place); ok {
				t.Errorf("got %+v, want no figures", got.Figures)
			}
		})
	}
}

// The past of an alert's place is that of the history.
func TestAlertHours(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	today := schema.DayOf(now)
	for name, row := range map[string]struct {
		requested air.AlertPlace
		want      []int16
	}{
		"city":     {air.AlertPlace{City: "Delhi"}, []int16{266}},
		"station":  {air.AlertPlace{Station: "cpcb-mandir-marg"}, []int16{190, 200}},
		"position": {position(28.6364, 77.2011), []int16{190, 200}},
		"pin code": {air.AlertPlace{Pincode: "411004"}, []int16{95}},
	} {
		t.Run(name, func(t *testing.T) {
			view := w.service.Air()
			place, err := view.Place(t.Context(), schema.Live, row.requested)
			if err != nil {
				t.Fatal(err)
			}
			hours, err := view.Hours(t.Context(), schema.Live, &place, today-1, today)
			if err != nil {
				t.Fatal(err)
			}
			var got []int16
			for i := range hours {
				got = append(got, hours[i].AQI)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("AQI of the hours (-want +got):\n%s", diff)
			}
		})
	}
}

// The probabilities are those of the forecast of a city, of a station, and of the nearest station with a forecast.
func TestAlertChances(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.issue(t)
	view := w.service.Air()
	for name, row := range map[string]struct {
		requested air.AlertPlace
		category  string
		day       int
		want      float64
		known     bool
	}{
		"city":                {air.AlertPlace{City: "Delhi"}, "Moderate", 1, 1, true},
		"worse category":      {air.AlertPlace{City: "Delhi"}, "Poor", 3, 0.1, true},
		"worst category":      {air.AlertPlace{City: "Delhi"}, "Severe", 1, 0, true},
		"station":             {air.AlertPlace{Station: "cpcb-mandir-marg"}, "Poor", 2, 0.1, true},
		"nearest station":     {position(28.6, 77.3), "Poor", 1, 0.1, true},
		"station without":     {air.AlertPlace{Station: "cpcb-anand-vihar"}, "Poor", 1, 0, false},
		"city without":        {air.AlertPlace{City: "Pune"}, "Poor", 1, 0, false},
		"position without":    {position(18.5, 73.8), "Poor", 1, 0, false},
		"day after the last":  {air.AlertPlace{City: "Delhi"}, "Poor", 4, 0, false},
		"name of no category": {air.AlertPlace{City: "Delhi"}, "Bad", 1, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			place, err := view.Place(t.Context(), schema.Live, row.requested)
			if err != nil {
				t.Fatal(err)
			}
			chances := view.Chances(schema.Live, &place)
			for range 2 { // the second call uses what the first has found
				if got, known := chances(row.category, row.day); got != row.want || known != row.known {
					t.Errorf("got %v, known %t, want %v, known %t", got, known, row.want, row.known)
				}
			}
		})
	}
}

// Chances follow a new issue of forecasts and a new day.
func TestAlertChancesFollowTheIssue(t *testing.T) {
	t.Parallel()
	w := india(t)
	view := w.service.Air()
	at := now
	view.Now = func() time.Time { return at }
	place, err := view.Place(t.Context(), schema.Live, position(28.6, 77.3))
	if err != nil {
		t.Fatal(err)
	}
	chances := view.Chances(schema.Live, &place)
	known := func(want bool, what string) {
		t.Helper()
		if _, got := chances("Poor", 1); got != want {
			t.Errorf("%s: got a probability: %t, want %t", what, got, want)
		}
	}
	known(false, "before the issue")
	w.issue(t)
	known(true, "after the issue")
	at = now.AddDate(0, 0, 9)
	known(false, "after the days of the issue")
	at = now
	known(true, "on a day of the issue")
}

// An alert takes the tag of a language, and names the nearest language of advice. The language of the client that creates
// it has no effect, because others get its messages.
func TestAlertLanguages(t *testing.T) {
	t.Parallel()
	w := india(t)
	db := sqlstoretest.SQLite(t)
	tenant := accesstest.AddTenant(t, db, "tenant")
	access := accesstest.Access(t, db, time.Now)
	client := accesstest.NewClient(t, access, alert.New(alert.Config{DB: db, Change: access.Change, Air: w.service.Air()}).Routes())
	key := tenant.Keys[schema.Live]
	for language, want := range map[string]string{"": "en", `,"language":"ta-IN"`: "ta", `,"language":"BN"`: "bn", `,"language":"fr"`: "en"} {
		t.Run(want+language, func(t *testing.T) {
			body := `{"place":{"city":"Delhi"},"condition":{"metric":"aqi","over":300}` + language + `}`
			made := client.Do(key, http.MethodPost, "/v1/alerts", body, "Accept-Language", "te").Want(t, "creating an alert", 201)
			if got := made.TextAt("language"); got != want {
				t.Errorf("got the language %q, want %q", got, want)
			}
			changed := client.Do(key, http.MethodPatch, "/v1/alerts/"+made.TextAt("id"), `{"language":"pa_IN"}`).Want(t, "changing an alert", 200)
			if got := changed.TextAt("language"); got != "pa" {
				t.Errorf("got the language %q after a change, want pa", got)
			}
		})
	}
}

// All errors of an alert are in one reply, each with its field.
func TestAlertErrorsAreCompleteAndNamed(t *testing.T) {
	t.Parallel()
	w := india(t)
	db := sqlstoretest.SQLite(t)
	tenant := accesstest.AddTenant(t, db, "tenant")
	access := accesstest.Access(t, db, time.Now)
	client := accesstest.NewClient(t, access, alert.New(alert.Config{DB: db, Change: access.Change, Air: w.service.Air()}).Routes())
	key := tenant.Keys[schema.Live]
	id := client.Do(key, http.MethodPost, "/v1/alerts", `{"place":{"city":"Delhi"},"condition":{"metric":"aqi","over":300}}`).Want(t, "creating an alert", 201).TextAt("id")
	for name, row := range map[string]struct {
		status int
		body   string
		fields []string
	}{
		"place and condition": {422, `{"place":{"city":"Atlantis"},"condition":{"metric":"aqi","over":501}}`, []string{"condition.over", "place.city"}},
		"all fields": {
			422, `{"name":"\u0007","place":{"lat":91,"lon":73},"condition":{"metric":"pm25","over":-1},"hysteresis":-1,"minimum_interval":"soon",` +
				`"quiet_hours":{"from":"25:00","to":"7"},"language":"?"}`,
			[]string{"minimum_interval", "name", "language", "quiet_hours.from", "quiet_hours.to", "condition.over", "place.lat"},
		},
		"hysteresis":        {422, `{"place":{"city":"Delhi"},"condition":{"metric":"aqi","over":300},"hysteresis":301}`, []string{"hysteresis"}},
		"unknown metric":    {422, `{"place":{"city":"Delhi"},"condition":{"metric":"smell","over":1},"minimum_interval":-1}`, []string{"minimum_interval", "condition.metric"}},
		"no condition":      {400, `{"place":{"city":"Atlantis"}}`, []string{"condition", "place.city"}},
		"two conditions":    {400, `{"place":{"city":"Atlantis"},"condition":{"metric":"aqi","over":1,"under":2}}`, []string{"condition", "place.city"}},
		"empty quiet hours": {422, `{"place":{"city":"Delhi"},"condition":{"metric":"aqi","over":300},"quiet_hours":{"from":"22:00","to":"22:00"}}`, []string{"quiet_hours.to"}},
	} {
		for method, path := range map[string]string{http.MethodPost: "/v1/alerts", http.MethodPatch: "/v1/alerts/" + id} {
			if method == http.MethodPatch && name == "no condition" {
				continue
			}
			t.Run(method+" "+name, func(t *testing.T) {
				reply := client.Do(key, method, path, row.body).Want(t, name, row.status)
				var got []string
				details, _ := reply.At("error.details").([]any)
				for _, one := range details {
					detail, _ := one.(map[string]any)
					got = append(got, fmt.Sprint(detail["field"]))
				}
				if len(details) == 0 {
					got = []string{reply.TextAt("error.field")}
				}
				if diff := cmp.Diff(row.fields, got); diff != "" {
					t.Errorf("fields (-want +got):\n%s%s", diff, reply.Text)
				}
			})
		}
	}
}
