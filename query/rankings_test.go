package query_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
)

// rankingFixture has cities with days and hours of October and November 2026. Today is 20 November.
func rankingFixture(t *testing.T) *fixture {
	t.Helper()
	w := statisticsFixture(t)
	day := func(text string) schema.Day {
		d, err := schema.ParseDay(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for city, c := range map[string]struct {
		state string
		aqi   int
		days  int // of October
		hours int // of 19 November
	}{
		"Pune": {"Maharashtra", 90, 31, 24}, "Kanpur": {"Uttar Pradesh", 300, 24, 18}, "Aurangabad": {"Bihar", 300, 31, 20},
		"Kochi": {"Kerala", 500, 23, 17}, "Gone": {"Goa", 500, 31, 24},
	} {
		var days, hours []figure
		for i := range c.days {
			days = append(days, figure{aqi: c.aqi + i%2, used: 3})
		}
		for i := range c.hours {
			hours = append(hours, figure{at: day("2026-11-19").Start().Add(time.Duration(i+1) * time.Hour), aqi: c.aqi})
		}
		w.cityDay(t, w.live, city, c.state, day("2026-10-01"), days...)
		w.cityDay(t, w.live, city, c.state, day("2026-11-19"), figure{aqi: c.aqi, used: 2})
		w.cityHour(t, w.live, city, c.state, hours...)
	}
	w.rollup(t, w.live, hour)
	w.refresh(t)
	return w
}

func (w *fixture) ranking(t *testing.T, query string) air.RankingReply {
	t.Helper()
	var reply air.RankingReply
	w.getInto(t, "/v1/rankings?"+query, &reply)
	return reply
}

func TestRankings(t *testing.T) {
	t.Parallel()
	w := rankingFixture(t)
	for query, want := range map[string]string{
		// Kanpur and Kochi have old figures. The three others are of the last hour.
		"":                             "now aqi stations unranked 2: 1 Delhi 266 Poor 2/2, 2 Aurangabad, Bihar 120 Moderate 1/1, 3 Pune 95 Satisfactory 1/1, 4 Aurangabad, Maharashtra 80 Satisfactory 1/1, 5 Sri Vijaya Puram 40 Good 1/1",
		"order=lowest&limit=2":         "now aqi stations unranked 2: 1 Sri Vijaya Puram 40 Good 1/1, 2 Aurangabad, Maharashtra 80 Satisfactory 1/1",
		"state=maharashtra":            "now aqi stations unranked 0: 3 Pune 95 Satisfactory 1/1, 4 Aurangabad, Maharashtra 80 Satisfactory 1/1",
		"period=day&date=2026-11-19":   "day 2026-11-19 2026-11-19 aqi hours unranked 1: 1 Aurangabad, Bihar 300 Poor 20/24, 1 Kanpur 300 Poor 18/24, 3 Pune 90 Satisfactory 24/24",
		"period=month&date=2026-10-07": "month 2026-10-01 2026-10-31 aqi days unranked 2: 1 Aurangabad, Bihar 300.5 Very Poor 31/31, 1 Kanpur 300.5 Very Poor 24/31, 3 Pune 90.5 Satisfactory 31/31",
		"period=month&date=2026-10-07&state=Maharashtra": "month 2026-10-01 2026-10-31 aqi days unranked 0: 3 Pune 90.5 Satisfactory 31/31",
		"period=year&date=2024-07-01&parameter=pm25":     "year 2024-01-01 2024-12-31 pm25 µg/m³ hours unranked 0: 1 Delhi 100 17568/17568, 2 Pune 40 8784/8784",
		"period=year&date=2019-07-01":                    "year 2019-01-01 2019-12-31 aqi days unranked 0: ",
	} {
		t.Run(query, func(t *testing.T) {
			r := w.ranking(t, query)
			got := strings.Join(strings.Fields(fmt.Sprint(r.Period, " ", r.From, " ", r.To, " ", r.Parameter, " ", r.Unit, " ", r.Counted, " unranked ", r.Unranked)), " ") + ": "
			for i, e := range r.Data {
				if i > 0 {
					got += ", "
				}
				category := " "
				if e.Category != nil {
					category = " " + *e.Category + " "
				}
				got += fmt.Sprint(e.Rank, " ", e.City, " ", e.Value, category, e.Coverage.Count, "/", e.Coverage.Expected)
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Without a date, the period is that of yesterday, and a running one ends there.
func TestPeriodOfARanking(t *testing.T) {
	t.Parallel()
	w := rankingFixture(t)
	for query, want := range map[string]string{
		"period=day":                   "2026-11-19 2026-11-19",
		"period=day&date=2026-11-20":   "2026-11-20 2026-11-20",
		"period=month":                 "2026-11-01 2026-11-19",
		"period=month&date=2024-02-29": "2024-02-01 2024-02-29",
		"period=year":                  "2026-01-01 2026-11-19",
		"period=year&date=2025-12-31":  "2025-01-01 2025-12-31",
	} {
		t.Run(query, func(t *testing.T) {
			if r := w.ranking(t, query); r.From+" "+r.To != want {
				t.Errorf("got %s %s, want %s", r.From, r.To, want)
			}
		})
	}
}

// On the first day of a month, the running month has no day that has ended.
func TestRankingOnTheFirstDay(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.serve(t, func(c *query.Config) {
		c.Now = func() time.Time { return time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC) }
	})
	w.refresh(t)
	r := w.ranking(t, "period=month&date=2026-12-01")
	if r.From != "2026-12-01" || r.To != "2026-12-01" || len(r.Data) != 0 {
		t.Errorf("got %s to %s with %d cities, want only the first day and no city", r.From, r.To, len(r.Data))
	}
}

func TestPagesOfARanking(t *testing.T) {
	t.Parallel()
	w := rankingFixture(t)
	whole := w.ranking(t, "period=month&date=2026-10-07")
	var got []string
	for cursor := ""; ; {
		r := w.ranking(t, "period=month&date=2026-10-07&limit=1"+cursor)
		got = append(got, r.Data[0].City)
		if !r.HasMore {
			break
		}
		cursor = "&cursor=" + *r.NextCursor
		status, h, body := w.get(t, "/v1/rankings?period=day"+cursor)
		checkProblem(t, status, h, body, schema.InvalidRequest, "cursor")
	}
	var want []string
	for _, e := range whole.Data {
		want = append(want, e.City)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got cities %q page by page, want %q", got, want)
	}
}

func TestRankingsHaveAnETag(t *testing.T) {
	t.Parallel()
	w := rankingFixture(t)
	_, now, _ := w.get(t, "/v1/rankings")
	_, month, _ := w.get(t, "/v1/rankings?period=month")
	if now.Get("ETag") == month.Get("ETag") || now.Get("ETag") == "" {
		t.Errorf("got ETags %q and %q, want different ones", now.Get("ETag"), month.Get("ETag"))
	}
	if status, _, _ := w.get(t, "/v1/rankings?period=month", "If-None-Match", month.Get("ETag")); status != http.StatusNotModified {
		t.Errorf("got status %d for the ETag of the reply, want 304", status)
	}
}

func TestRankingsRejectBadValues(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.rejects(t, "/v1/rankings?", map[string]rejection{
		"period=week":                   {schema.InvalidRequest, "period", "now, day, month or year"},
		"period=mnth":                   {schema.InvalidRequest, "period", "Did you mean month?"},
		"date=2026-11-01":               {schema.ConflictingParameters, "date", "no date"},
		"period=day&date=2026-11-21":    {schema.InvalidRequest, "date", "future"},
		"period=year&date=2026-02-30":   {schema.InvalidRequest, "date", "existing date"},
		"period=year&date=2026":         {schema.InvalidRequest, "date", "existing date"},
		"period=month&parameter=pm25":   {schema.ConflictingParameters, "parameter", "period=year"},
		"parameter=pm25":                {schema.ConflictingParameters, "parameter", "period=year"},
		"period=year&parameter=benzene": {schema.InvalidRequest, "parameter", "aqi, pm25"},
		"state=Maharastra":              {schema.InvalidRequest, "state", "Did you mean Maharashtra?"},
		"order=worst":                   {schema.InvalidRequest, "order", "highest or lowest"},
		"limit=0":                       {schema.InvalidRequest, "limit", "whole number from 1 to 1000"},
		"cursor=x":                      {schema.InvalidRequest, "cursor", "not from this list"},
		"periods=day":                   {schema.InvalidRequest, "periods", "Did you mean period?"},
		"period=":                       {schema.InvalidRequest, "period", "empty"},
	})
}
