package query_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"vayu/schema"
	"vayu/schema/air"
)

func (w *fixture) stationsIn(t *testing.T, query string) air.HourReply {
	t.Helper()
	var reply air.HourReply
	w.getInto(t, "/v1/hours?"+query, &reply)
	return reply
}

func TestStationsOfAnHour(t *testing.T) {
	t.Parallel()
	w := india(t)
	// This station has a mean in the hour before, but no reading of that hour.
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,%s) VALUES ('cpcb-karve-road',%s)", w.live, figureColumns,
		figure{at: hour.Add(-time.Hour), aqi: 94}.columns()))
	w.exec(t, fmt.Sprintf("ALTER TABLE %s.station_hour UPDATE updated = toDateTime(%d) WHERE station = 'cpcb-karve-road' AND aqi = 94 SETTINGS mutations_sync = 2",
		w.live, hour.Add(-2*time.Hour).Unix()))
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,%s) VALUES ('not-in-the-list',%s)", w.live, figureColumns, figure{at: hour, aqi: 1}.columns()))
	const newest = "cpcb-anand-vihar 331 Very Poor 100.26, cpcb-aurangabad-b 120 Moderate 100.26, cpcb-aurangabad-m 80 Satisfactory 100.26, " +
		"cpcb-karve-road 95 Satisfactory 60, cpcb-lonavala - - null, cpcb-mandir-marg 200 Moderate 100.26, cpcb-port-blair 40 Good 100.26, "
	for query, want := range map[string]string{
		"":                               newest,
		"hour=2026-11-20T08:30:00Z":      newest,
		"hour=2026-11-20T14:00:00+05:30": newest, // the plus sign is not escaped
		"hour=2026-11-20T07:30:00Z":      "cpcb-mandir-marg 190 Moderate 100.26, ",
		"hour=2026-11-20T06:30:00Z":      "",
		"hour=2010-01-01T00:30:00Z":      "",
	} {
		t.Run(query, func(t *testing.T) {
			for range 2 { // the second reply is from the cache
				got := ""
				for _, e := range w.stationsIn(t, query).Data {
					amount, err := json.Marshal(e.PM25)
					if err != nil {
						t.Fatal(err)
					}
					aqi, category := "-", "-"
					if e.AQI != nil {
						aqi, category = fmt.Sprint(*e.AQI), *e.Category
					}
					got += fmt.Sprintf("%s %s %s %s, ", e.Station, aqi, category, amount)
				}
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func TestPagesOfAnHour(t *testing.T) {
	t.Parallel()
	w := india(t)
	var ids []string
	for next := "limit=2"; next != ""; {
		page := w.stationsIn(t, next)
		if !page.Hour.Equal(hour) || len(page.Data) > 2 {
			t.Errorf("got the hour %v with %d stations, want %v with at most 2", page.Hour, len(page.Data), hour)
		}
		for _, e := range page.Data {
			ids = append(ids, e.Station)
		}
		if next = ""; page.HasMore {
			next = "limit=2&cursor=" + url.QueryEscape(*page.NextCursor)
		}
	}
	if len(ids) != 7 {
		t.Errorf("got the stations %q, want 7", ids)
	}
	cursor := *w.stationsIn(t, "limit=2").NextCursor
	w.rejects(t, "/v1/hours?", map[string]rejection{
		"hour=2026-11-20T08:00:00Z":         {schema.InvalidRequest, "hour", "end of a full hour in India"},
		"hour=2026-11-20":                   {schema.InvalidRequest, "hour", "for example 2026-11-20T08:30:00Z"},
		"hour=1900-11-20T08:30:00Z":         {schema.InvalidRequest, "hour", "end of a full hour"},
		"hour=2026-11-20T09:30:00Z":         {schema.InvalidRequest, "hour", "future"},
		"hour=":                             {schema.InvalidRequest, "hour", "empty"},
		"limit=0":                           {schema.InvalidRequest, "limit", "1"},
		"scale=usa":                         {schema.InvalidRequest, "scale", "Did you mean us?"},
		"scale=":                            {schema.InvalidRequest, "scale", "empty"},
		"limit=2&scale=us&cursor=" + cursor: {schema.InvalidRequest, "cursor", "next_cursor"},
		"hour=2026-11-20T07:30:00Z&cursor=" + cursor: {schema.InvalidRequest, "cursor", "next_cursor"},
		"hours=2026-11-20T07:30:00Z":                 {schema.InvalidRequest, "hours", "Did you mean hour?"},
	})
}

// A roll-up of late readings changes an hour that is in the cache.
func TestALateReadingChangesAnHour(t *testing.T) {
	t.Parallel()
	w := india(t)
	before := hour.Add(-time.Hour)
	query := "hour=" + before.Format(time.RFC3339)
	if got := w.stationsIn(t, query).Data; len(got) != 1 {
		t.Fatalf("got %v, want one station", got)
	}
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,%s) VALUES ('cpcb-karve-road',%s)", w.live, figureColumns, figure{at: before, aqi: 94}.columns()))
	w.rollup(t, w.live, before)
	w.refresh(t)
	if got := w.stationsIn(t, query).Data; len(got) != 2 || got[0].Station != "cpcb-karve-road" || *got[0].AQI != 94 {
		t.Errorf("got %v, want also the late station", got)
	}
}

// The index of a station in an hour is that of GET /v1/aqi for the station and the hour.
func TestStationsOfAnHourOnAScale(t *testing.T) {
	t.Parallel()
	w := withMeans(t)
	for query, want := range map[string]string{
		"scale=us": "cpcb-anand-vihar 331, us 113, Unhealthy for Sensitive Groups, #FF7E00, PM2.5",
		"scale=eu": "cpcb-anand-vihar 331, eu 4, Poor, #FF5050, NO2",
	} {
		t.Run(query, func(t *testing.T) {
			for range 2 { // the second reply is from the cache
				reply := w.stationsIn(t, query+"&limit=1")
				if len(reply.Data) != 1 || reply.Scale == nil || reply.Scale.Method == "" || reply.Data[0].Scale.Method != "" {
					t.Fatalf("got %+v, want one station, and the method once", reply)
				}
				e := reply.Data[0]
				got := fmt.Sprintf("%s %d, %s", e.Station, *e.Uncapped, (&scaled{Scale: e.Scale}).text())
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	for _, query := range []string{"in", "us", "eu", "who"} {
		for _, e := range w.stationsIn(t, "scale="+query).Data {
			if e.AQI == nil {
				if e.Uncapped != nil || e.Scale == nil {
					t.Errorf("%s: %s has aqi_uncapped %v and scale %v without an AQI, want no aqi_uncapped and a scale", query, e.Station, e.Uncapped, e.Scale)
				}
				continue
			}
			if got, want := (&scaled{Scale: e.Scale}).text(), w.ask(t, "station="+e.Station+"&scale="+query); got != want.text() || *e.Uncapped != *want.Uncapped {
				t.Errorf("%s on %s: got %s, uncapped %d, want %s, %d as in GET /v1/aqi", e.Station, query, got, *e.Uncapped, want.text(), *want.Uncapped)
			}
		}
	}
	// An hour of the past has its own means.
	if got := w.stationsIn(t, "hour="+hour.Add(-time.Hour).Format(time.RFC3339)+"&scale=us").Data; len(got) != 1 || got[0].Scale.Category == nil {
		t.Errorf("got %+v, want the US index of one station in the hour before", got)
	}
}
