package query_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/air"
)

// qualityFixture has a station with a spike, a repeated value of five hours and
// five days of NOx in one unit.
func qualityFixture(t *testing.T) *fixture {
	t.Helper()
	w := newFixture(t)
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.station (id, name, city, state, kind) VALUES ('a', 'A', 'Delhi', 'Delhi', 'reference'), ('b', 'B', 'Delhi', 'Delhi', 'reference')`, w.live))
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.reading_quality (station, parameter, at, kind, averaging, test, version, flag, detail, removed)
		SELECT 'a', 'o3', toDateTime(%d, 'UTC') - number * 3600, 'concentration', 60, 'flat_line', 1, 'suspect', 'repeated 7', 0 FROM numbers(5)
		UNION ALL SELECT 'a', 'pm25', toDateTime(%[2]d, 'UTC'), 'concentration', 60, 'spike', 1, 'suspect', '900 between 50 and 52', 0
		UNION ALL SELECT 'a', 'pm25', toDateTime(%[2]d, 'UTC'), 'concentration', 60, 'source_flag', 1, 'suspect', 'stuck', 1
		UNION ALL SELECT 'b', 'pm25', toDateTime(%[2]d, 'UTC'), 'concentration', 60, 'gross_range', 1, 'fail', '4999', 0`, w.live, hour.Unix()))
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.nox_form (station, day, documented, one_unit, neither) SELECT 'a', toDate('2026-11-20') - number, 1, 90, 5 FROM numbers(5)`, w.live))
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	return w
}

func TestQualityOfAStation(t *testing.T) {
	t.Parallel()
	w := qualityFixture(t)
	var got air.QualityReply
	var pages []string
	for path := "/v1/stations/a/quality?limit=4"; path != ""; {
		var page air.QualityReply
		w.getInto(t, path, &page)
		for _, r := range page.Data {
			pages = append(pages, fmt.Sprintf("%s %s %s", r.At.Format("15:04"), r.Parameter, r.Test))
		}
		pages = append(pages, "-")
		if got, path = page, ""; page.HasMore {
			path = "/v1/stations/a/quality?limit=4&cursor=" + *page.NextCursor
		}
	}
	want := []string{"08:30 o3 flat_line", "08:30 pm25 spike", "07:30 o3 flat_line", "06:30 o3 flat_line", "-", "05:30 o3 flat_line", "04:30 o3 flat_line", "-"}
	if diff := cmp.Diff(want, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	oneUnit := "one_unit"
	got.Data = nil
	whole := air.QualityReply{
		Status: "success", Station: "a", From: "2026-11-14", To: "2026-11-20", NOxForm: &oneUnit,
		Tests: []air.QualityCount{
			{Parameter: "o3", Test: "flat_line", Version: 1, Flag: "suspect", Count: 5, First: hour.Add(-4 * time.Hour), Last: hour},
			{Parameter: "pm25", Test: "spike", Version: 1, Flag: "suspect", Count: 1, First: hour, Last: hour},
		},
	}
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	status, _, body := w.get(t, "/v1/stations/a/quality?from=2026-11-18&to=2026-11-19")
	if status != http.StatusOK || !strings.Contains(body, `"tests":[],"data":[],"has_more":false`) {
		t.Errorf("days without results: %d %s", status, body)
	}
}

func TestInvalidQualityQueries(t *testing.T) {
	t.Parallel()
	w := qualityFixture(t)
	var page air.QualityReply
	if _, body := w.getInto(t, "/v1/stations/a/quality?limit=1", &page); page.NextCursor == nil {
		t.Fatalf("no next_cursor: %s", body)
	}
	for query, field := range map[string]string{
		"from=2026-11-19&to=2026-11-18": "from", "from=19-11-2026": "from", "to=2026-11-21": "to", "from=2025-11-01": "to",
		"limit=0": "limit", "cursor=%21": "cursor", "city=Delhi": "city", "from=2026-11-20&cursor=" + *page.NextCursor: "cursor",
	} {
		status, _, body := w.get(t, "/v1/stations/a/quality?"+query)
		if status != http.StatusBadRequest || !strings.Contains(body, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	if status, _, body := w.get(t, "/v1/stations/nobody/quality"); status != http.StatusNotFound || !strings.Contains(body, `"not_found"`) {
		t.Errorf("an unknown station: %d %s", status, body)
	}
}
