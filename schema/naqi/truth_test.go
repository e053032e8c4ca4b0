package naqi_test

import (
	"encoding/csv"
	"encoding/xml"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/realdata"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

func rows(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(realdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

// A pollution control board's own sheet of concentrations and sub-indices.
// Differences are listed with their cause.
func TestAgencySheetOfSubIndices(t *testing.T) {
	t.Parallel()
	// From 20 September to 1 October 2015 the sheet has 1 in every NOx cell: the
	// columns were shifted when the page was scraped.
	scrapeFault := map[string]bool{
		"2015-09-20": true, "2015-09-21": true, "2015-09-22": true, "2015-09-23": true, "2015-09-24": true, "2015-09-25": true,
		"2015-09-27": true, "2015-09-28": true, "2015-09-29": true, "2015-09-30": true, "2015-10-01": true,
	}
	type row struct{ day, pollutant, conc, index string }
	seen := make(map[row]bool)
	got := make(map[string]int)
	for _, r := range rows(t, "mpcb_daily_subindex.csv") {
		k := row{r[0], r[4], r[5], r[6]}
		if k.conc == "" || k.index == "" || seen[k] {
			continue
		}
		seen[k] = true
		p, ok := air.ParsePollutant(k.pollutant)
		if k.pollutant == "NOx" { // the sheet's name for what it indexes as NO2
			p, ok = air.NO2, true
		}
		conc, err1 := strconv.ParseFloat(k.conc, 64)
		published, err2 := strconv.ParseFloat(k.index, 64)
		if !ok || err1 != nil || err2 != nil {
			t.Fatalf("row %v cannot be read: its pollutant is known: %v; errors of its numbers: %v, %v", k, ok, err1, err2)
		}
		ours, _ := naqi.SubIndex(p, conc)
		asSO2, _ := naqi.SubIndex(air.SO2, conc)
		switch {
		case ours == int(published):
			got["exact"]++
		case p == air.NO2 && conc > 80 && asSO2 == int(published):
			got["NO2 above 80 with the band of SO2"]++
		case p == air.NO2 && published == 1 && scrapeFault[k.day]:
			got["scrape fault"]++
		default:
			t.Errorf("%v: ours is %d, and no known cause", k, ours)
		}
	}
	want := map[string]int{"exact": 2169, "NO2 above 80 with the band of SO2": 30, "scrape fault": 11}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("agreement with the sheet (-want +got):\n%s", diff)
	}
}

func TestBulletinsCategories(t *testing.T) {
	t.Parallel()
	exact, all := 0, 0
	for _, r := range rows(t, "cpcb/bulletins_2024h1.csv") {
		aqi, err := strconv.Atoi(r[3])
		if err != nil {
			t.Fatalf("row %v: %v", r, err)
		}
		all++
		if naqi.Category(aqi) == r[2] {
			exact++
			continue
		}
		t.Errorf("%s %s: AQI %d is %q, the bulletin has %q", r[0], r[1], aqi, naqi.Category(aqi), r[2])
	}
	if exact != 43286 || all != 43286 {
		t.Errorf("%d of %d city-days agree, want 43286 of 43286", exact, all)
	}
}

// CPCB's own station AQIs. Ours must be equal, and missing for exactly the
// stations without one.
func TestFeedStations(t *testing.T) {
	t.Parallel()
	var feed struct {
		Stations []struct {
			ID         string `xml:"id,attr"`
			Pollutants []struct {
				ID  string `xml:"id,attr"`
				Avg string `xml:"Avg,attr"`
			} `xml:"Pollutant_Index"`
			Index struct {
				Value    string `xml:"Value,attr"`
				Dominant string `xml:"Predominant_Parameter,attr"`
			} `xml:"Air_Quality_Index"`
		} `xml:"Country>State>City>Station"`
	}
	raw, err := os.ReadFile(realdata.Path(t, "cpcb/rss_feed_2025-12-09_part.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(raw, &feed); err != nil {
		t.Fatal(err)
	}
	if len(feed.Stations) != 194 {
		t.Fatalf("the feed has %d stations, want 194", len(feed.Stations))
	}
	for _, s := range feed.Stations {
		subs := naqi.None()
		for _, p := range s.Pollutants {
			if v, err := strconv.Atoi(p.Avg); err == nil {
				id, _ := air.ParsePollutant(p.ID)
				subs[id] = v
			}
		}
		aqi, dominant, ok := naqi.Index(subs)
		published, err := strconv.Atoi(s.Index.Value)
		switch {
		case ok != (err == nil):
			t.Errorf("%s: we answer %v, CPCB has %q", s.ID, ok, s.Index.Value)
		case !ok:
		case aqi != published:
			t.Errorf("%s: our AQI is %d, CPCB's %d", s.ID, aqi, published)
		default:
			if named, _ := air.ParsePollutant(s.Index.Dominant); named != dominant {
				t.Errorf("%s: our dominant pollutant is %v, CPCB's %s", s.ID, dominant, s.Index.Dominant)
			}
		}
	}
}
