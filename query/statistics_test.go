package query_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/air"
	"vayu/schema/views"
)

// statisticsFixture has days of PM2.5 of 2023 and 2024 at two stations and a sensor in Delhi, and of 2024 at one in
// Pune.
func statisticsFixture(t *testing.T) *fixture {
	t.Helper()
	w := india(t)
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station (id, name, city, state, kind, last_seen) VALUES ('low-cost', 'low-cost', 'Delhi', 'Delhi', 'sensor', now())", w.live))
	for station, mean := range map[string]int{"cpcb-anand-vihar": 120, "cpcb-mandir-marg": 80, "low-cost": 300, "cpcb-karve-road": 40} {
		from, days := "2023-01-01", 365+366
		if station == "cpcb-karve-road" {
			from, days = "2024-01-01", 366
		}
		w.exec(t, fmt.Sprintf(`INSERT INTO %s.station_parameter_day (station, parameter, day, mean, count, expected, flag, hours, present, max_8h)
			SELECT '%s', 'pm25', toDate('%s') + number, %d, 24, 24, 'good', arrayWithConstant(24, %[4]d), 16777215, %[4]d FROM numbers(%d)`, w.live, station, from, mean, days))
	}
	// Another id of the station in Pune.
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station (id, name, city, state, kind, last_seen, same_as) VALUES ('copy', 'copy', 'Pune', 'Maharashtra', 'reference', now(), 'cpcb-karve-road')", w.live))
	w.exec(t, fmt.Sprintf("INSERT INTO %[1]s.station_parameter_day (*) SELECT * REPLACE ('copy' AS station, 41 AS mean) FROM %[1]s.station_parameter_day WHERE station = 'cpcb-karve-road'", w.live))
	w.rollup(t, w.live, hour)
	w.refresh(t)
	return w
}

// statistics returns the reply to a query that must succeed, with its rows as maps.
func (w *fixture) statistics(t *testing.T, query string) (air.StatisticsReply, []map[string]any) {
	t.Helper()
	var reply air.StatisticsReply
	w.getInto(t, "/v1/statistics?"+query, &reply)
	var rows []map[string]any
	for _, raw := range reply.Data {
		var row map[string]any
		if err := json.Unmarshal(raw, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return reply, rows
}

// A slash needs no escape in JSON.
func TestStatisticsNameUnits(t *testing.T) {
	t.Parallel()
	w := statisticsFixture(t)
	_, _, body := w.get(t, "/v1/statistics?view=annual_statistics&city=Pune")
	if want := `"unit":"µg/m³"`; !strings.Contains(body, want) {
		t.Errorf("got %s, want %s in it", body, want)
	}
}

// pick returns fields of rows as text.
func pick(rows []map[string]any, fields ...string) []string {
	out := []string{}
	for _, row := range rows {
		var all []string
		for _, f := range fields {
			all = append(all, fmt.Sprint(row[f]))
		}
		out = append(out, strings.Join(all, " "))
	}
	return out
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	w := statisticsFixture(t)
	for _, c := range []struct {
		name, query string
		fields      []string
		want        []string
	}{
		{"of a city by an alias", "view=annual_statistics&city=New+Delhi&to=2023-12-31", []string{"station", "year", "mean", "median"},
			[]string{"cpcb-anand-vihar 2023 120 120", "cpcb-mandir-marg 2023 80 80"}},
		{"with sensors", "view=annual_statistics&city=Delhi&kinds=reference,+sensor&from=2024-06-01", []string{"station", "year"},
			[]string{"cpcb-anand-vihar 2024", "cpcb-mandir-marg 2024", "low-cost 2024"}},
		{"of a sensor by its id", "view=annual_statistics&station=low-cost&from=2024-06-01", []string{"station", "kind", "mean"}, []string{"low-cost sensor 300"}},
		{"of a state", "view=monthly_statistics&state=maharashtra&from=2024-02-10&to=2024-03-01", []string{"city", "month", "days"}, []string{"Pune 2024-02-01 29", "Pune 2024-03-01 31"}},
		{"days", "view=daily&city=Pune&from=2024-02-28&to=2024-03-01", []string{"day", "mean", "max_8h"}, []string{"2024-02-28 40 40", "2024-02-29 40 40", "2024-03-01 40 40"}},
		{"of a parameter that was not measured", "view=annual_statistics&city=Delhi&parameters=o3,no2", []string{"station"}, []string{}},
		{"of the seasons of a range", "view=season&city=Pune&from=2024-06-01&to=2024-10-01", []string{"year", "season"}, []string{"2024 monsoon", "2024 post-monsoon"}},
		{"of the season of a day", "view=season&city=Pune&from=2024-05-31&to=2024-05-31", []string{"year", "season"}, []string{"2024 pre-monsoon"}},
		{"of seasons over a turn of the year", "view=season&station=cpcb-mandir-marg&from=2023-12-31&to=2024-02-29", []string{"year", "season"},
			[]string{"2023 post-monsoon", "2024 winter"}},
		{"of another id of a station", "view=annual_statistics&station=copy", []string{"station", "name", "mean"}, []string{"cpcb-karve-road cpcb-karve-road name 40"}},
		{"of one standard", "view=exceedance&city=Pune&standard=naaqs_2009&parameters=PM2.5", []string{"period", "value", "exceeded", "evaluated", "complies"},
			[]string{"24h 60 0 366 true", "year 40 0 1 true"}},
		{"cities", "view=ranking&from=2024-01-01", []string{"rank", "city", "mean", "stations"}, []string{"1 Delhi 100 2", "2 Pune 40 1"}},
		{"a city among the others", "view=ranking&from=2024-01-01&city=Pune", []string{"rank", "city"}, []string{"2 Pune"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, rows := w.statistics(t, c.query)
			if diff := cmp.Diff(c.want, pick(rows, c.fields...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.query, diff)
			}
		})
	}
}

// Every view but the wide and the constant one answers, with its coverage.
func TestStatisticsOfEveryView(t *testing.T) {
	t.Parallel()
	w := statisticsFixture(t)
	for _, view := range views.Names {
		if view == "openair" || view == "standard" {
			continue
		}
		t.Run(view, func(t *testing.T) {
			query := "view=" + view + "&city=Delhi&parameters=pm25"
			if view == "trend" { // two years are no trend
				query = "view=trend&city=Delhi"
				w.statistics(t, query)
				return
			}
			_, rows := w.statistics(t, query)
			if len(rows) == 0 {
				t.Fatal("there are no rows")
			}
			for _, row := range rows {
				c, ok := row["coverage"].(map[string]any)
				if !ok {
					t.Fatalf("%v has no coverage", row)
				}
				if c["complete"] != true || c["hours"] != c["expected_hours"] {
					t.Fatalf("the coverage of %v is %v, want a complete one", row, c)
				}
			}
		})
	}
}

// Pages have each row once, and a cursor belongs to its query.
func TestStatisticsPages(t *testing.T) {
	t.Parallel()
	w := statisticsFixture(t)
	const query = "view=weekday&city=Delhi&limit=9"
	var got []string
	cursor, path := "", query
	for range 10 {
		reply, rows := w.statistics(t, path)
		got = append(got, pick(rows, "station", "year", "weekday")...)
		if !reply.HasMore {
			break
		}
		cursor = url.QueryEscape(*reply.NextCursor)
		path = query + "&cursor=" + cursor
	}
	_, rows := w.statistics(t, "view=weekday&city=Delhi")
	if diff := cmp.Diff(pick(rows, "station", "year", "weekday"), got); diff != "" || len(got) != 28 {
		t.Errorf("%d rows (-one page +pages):\n%s", len(got), diff)
	}
	if status, _, body := w.get(t, "/v1/statistics?view=weekday&city=Pune&cursor="+cursor); status != http.StatusBadRequest {
		t.Errorf("a cursor of another list: %d %s", status, body)
	}
}

func TestInvalidStatisticsQueries(t *testing.T) {
	t.Parallel()
	w := statisticsFixture(t)
	for query, want := range map[string]string{
		"":                                                    `400 view There are: daily,`,
		"view=annual_statistic&city=Delhi":                    `400 view Did you mean annual_statistics?`,
		"view=annual&city=Delhi":                              `400 view Did you mean annual_statistics?`,
		"view=daily":                                          `400 city requires one of city, state and station`,
		"view=daily&city=Delhi&state=Delhi":                   `400 state only one of`,
		"view=daily&city=Delhiii":                             `404 city Did you mean Delhi`,
		"view=daily&city=Aurangabad":                          `400 city Aurangabad, Bihar`,
		"view=daily&state=Maharashtr":                         `404 state Did you mean Maharashtra?`,
		"view=daily&station=nowhere":                          `404 station no such station`,
		"view=daily&city=Delhi&parameters=pm2":                `400 parameters Did you mean pm25, pm1?`,
		"view=daily&city=Delhi&parameter=pm25":                `400 parameter no parameter parameter. Did you mean parameters?`,
		"kind=daily&city=Delhi":                               `400 kind no parameter kind. Did you mean kinds?`,
		"view=dialy&city=Delhi":                               `400 view Did you mean daily?`,
		"view=daily&station=low-cos":                          `404 station Did you mean low-cost?`,
		"view=daily&city=Delhi&kinds=good":                    `400 kinds reference, sensor and city_mean`,
		"view=daily&station=low-cost&kinds=sensor":            `400 kinds one kind`,
		"view=ranking&kinds=sensor":                           `400 kinds never has sensors`,
		"view=ranking&station=low-cost":                       `400 station has cities`,
		"view=exceedance&city=Delhi&standard=naaqs":           `400 standard Did you mean naaqs_2009?`,
		"view=daily&city=Delhi&standard=who_2021":             `400 standard Only the view exceedance`,
		"view=daily&city=Delhi&from=2024-02-30":               `400 from existing date`,
		"view=daily&city=Delhi&from=2024-02-02&to=2024-02-01": `400 from ends before it begins`,
		"view=daily&city=Delhi&to=2030-01-01":                 `400 to future`,
		"view=trend&city=Delhi&from=2024-01-01":               `400 from whole series`,
		"view=daily&city=Delhi&limit=1001":                    `400 limit whole number from 1 to 1000`,
		"view=daily&city=Delhi&cursor=abc":                    `400 cursor not from this list`,
	} {
		t.Run(query, func(t *testing.T) {
			status, _, body := w.get(t, "/v1/statistics?"+query)
			var reply struct {
				Error struct{ Field, Message string }
			}
			if err := json.Unmarshal([]byte(body), &reply); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			code, rest, _ := strings.Cut(want, " ")
			field, message, _ := strings.Cut(rest, " ")
			if fmt.Sprint(status) != code || reply.Error.Field != field || !strings.Contains(reply.Error.Message, message) {
				t.Errorf("%d %s: %s, want %s", status, reply.Error.Field, reply.Error.Message, want)
			}
		})
	}
}
