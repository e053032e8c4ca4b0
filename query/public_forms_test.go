package query_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/advice"
)

// elements parses an XML document and returns the texts of its elements with a name.
func elements(t *testing.T, document, name string) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in %s", err, document)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == name {
			var text string
			if err := d.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
	}
}

func TestPublicBadges(t *testing.T) {
	t.Parallel()
	w := india(t)
	for city, want := range map[string][2]string{
		"Delhi":               {"Delhi AQI: 266 Poor", "#f79a3e"},
		"Aurangabad,%20Bihar": {"Aurangabad, Bihar AQI: 120 Moderate", "#ffdf4d"},
		"Kanpur":              {"Kanpur AQI: no current data", "#555555"},   // its figures are 50 hours old
		"Byrnihat":            {"Byrnihat AQI: no current data", "#555555"}, // it has none
	} {
		status, h, body := w.open(t, "/public/v1/cities/"+city+"/badge.svg")
		if status != http.StatusOK || h.Get("Content-Type") != "image/svg+xml" {
			t.Fatalf("%s: status %d, type %q: %s", city, status, h.Get("Content-Type"), body)
		}
		if titles := elements(t, body, "title"); len(titles) != 1 || titles[0] != want[0] {
			t.Errorf("%s: got the titles %q, want %q", city, titles, want[0])
		}
		if !strings.Contains(body, want[1]) || !strings.Contains(body, `role="img"`) {
			t.Errorf("%s: want the colour %s and a role: %s", city, want[1], body)
		}
	}
}

func TestPublicCharts(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour.Add(-30 * time.Hour), aqi: 90}, figure{at: hour.Add(-3 * time.Hour), aqi: 410})
	for query, want := range map[string]struct {
		bars int
		text string
	}{
		"":        {2, "2 hours have an AQI. Last: 266, Poor, 20 Nov 14:00 IST. Lowest: 266, Poor, 20 Nov 14:00 IST. Highest: 410, Severe, 20 Nov 11:00 IST."},
		"?days=1": {2, "2 hours have an AQI."},
		"?days=7": {3, "Lowest: 90, Satisfactory, 19 Nov 08:00 IST."},
	} {
		t.Run("chart.svg"+query, func(t *testing.T) {
			status, _, body := w.open(t, "/public/v1/cities/Delhi/chart.svg"+query)
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			if texts := elements(t, body, "desc"); len(texts) != 1 || !strings.Contains(texts[0], want.text) {
				t.Errorf("got the description %q, want %q", texts, want.text)
			}
			if rects := elements(t, body, "rect"); len(rects) != want.bars+1 { // and the background
				t.Errorf("got %d rectangles, want %d", len(rects), want.bars+1)
			}
		})
	}
	for path, want := range map[string]int{
		"/public/v1/cities/Delhi/chart.svg?days=2":  http.StatusBadRequest,
		"/public/v1/cities/Delhi/chart.svg?days=07": http.StatusBadRequest,
		"/public/v1/cities/Byrnihat/chart.svg":      http.StatusNotFound,
	} {
		if status, _, body := w.open(t, path); status != want {
			t.Errorf("%s: status %d, want %d: %s", path, status, want, body)
		}
	}
}

func TestPublicFeedOfACity(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour.Add(-4 * time.Hour), aqi: 310}, figure{at: hour.Add(-2 * time.Hour), aqi: 250})
	_, h, body := w.open(t, "/public/v1/cities/Delhi/feed.atom")
	var feed struct {
		Rights string `xml:"rights"`
		Link   []struct {
			Rel  string `xml:"rel,attr"`
			Href string `xml:"href,attr"`
		} `xml:"link"`
		Entries []struct {
			Title   string `xml:"title"`
			Updated string `xml:"updated"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal([]byte(body), &feed); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if got := h.Get("Content-Type"); got != "application/atom+xml" {
		t.Errorf("got the type %q, want application/atom+xml", got)
	}
	if feed.Rights != "CPCB" || len(feed.Link) != 1 || feed.Link[0].Href != "https://air.example/public/v1/cities/Delhi/feed.atom" {
		t.Errorf("got the feed %+v, want the rights of CPCB and a link to itself", feed)
	}
	var titles []string
	for _, e := range feed.Entries {
		titles = append(titles, e.Updated+" "+e.Title)
	}
	want := []string{"2026-11-20T06:30:00Z Delhi: AQI 250, Poor", "2026-11-20T04:30:00Z Delhi: AQI 310, Very Poor"} // 266 is Poor, too
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestPublicAlert(t *testing.T) {
	t.Parallel()
	w := india(t)
	status, h, body := w.open(t, "/public/v1/cities/Delhi/alert.cap")
	if status != http.StatusOK || h.Get("Content-Type") != "application/cap+xml" {
		t.Fatalf("status %d, type %q: %s", status, h.Get("Content-Type"), body)
	}
	for name, want := range map[string]string{
		"identifier": "vayu.live.Delhi-Delhi.20261120T0830Z",
		"sender":     "air.example",
		"sent":       "2026-11-20T14:00:00+05:30",
		"status":     "Actual",
		"language":   "en-IN hi-IN bn-IN gu-IN kn-IN ml-IN mr-IN pa-IN ta-IN te-IN",
		"severity":   "Minor",
		"expires":    "2026-11-20T15:05:00+05:30",
		"headline": "Delhi: AQI 266, Poor Delhi: AQI 266, ख़राब Delhi: AQI 266, খারাপ Delhi: AQI 266, ખરાબ Delhi: AQI 266, ಕಳಪೆ " +
			"Delhi: AQI 266, മോശം Delhi: AQI 266, वाईट Delhi: AQI 266, ਖ਼ਰਾਬ Delhi: AQI 266, மோசம் Delhi: AQI 266, చెడ్డది",
		"web":    "https://air.example/public/v1/cities/Delhi",
		"circle": "28.642,77.259 6",
	} {
		if got := strings.Join(slices.Compact(elements(t, body, name)), " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, city := range []string{"Pune", "Kanpur", "Byrnihat"} { // better air, old figures, no figures
		if status, _, body := w.open(t, "/public/v1/cities/"+city+"/alert.cap"); status != http.StatusNotFound {
			t.Errorf("%s: status %d: %s", city, status, body)
		}
	}
	_, _, feed := w.open(t, "/public/v1/alerts.atom")
	if titles := elements(t, feed, "title"); !slices.Equal(titles, []string{"Air quality alerts", "Delhi: AQI 266, Poor"}) {
		t.Errorf("got the alerts %q", titles)
	}
	if !strings.Contains(feed, `href="https://air.example/public/v1/cities/Delhi/alert.cap"`) {
		t.Errorf("the feed has no link to the alert: %s", feed)
	}
}

// Simulated air is a test for receivers of alerts.
func TestPublicAlertOfSimulatedAirIsATest(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.public = "sandbox"
	w.cityHour(t, w.sandbox, "Delhi", "Delhi", figure{at: hour, aqi: 451})
	w.rollup(t, w.sandbox, hour)
	w.serve(t)
	w.refresh(t)
	_, _, body := w.open(t, "/public/v1/cities/Delhi/alert.cap")
	got := [][]string{elements(t, body, "status"), elements(t, body, "severity"), elements(t, body, "responseType")}
	languages := len(advice.Languages)
	if diff := cmp.Diff([][]string{{"Test"}, slices.Repeat([]string{"Extreme"}, languages), slices.Repeat([]string{"Avoid"}, languages)}, got); diff != "" {
		t.Errorf("status, severity and response (-want +got):\n%s", diff)
	}
}

// A feed in RSS has the entries of the feed in Atom, in each language.
func TestPublicFeedsInRSSAndLanguages(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour.Add(-4 * time.Hour), aqi: 310}, figure{at: hour.Add(-2 * time.Hour), aqi: 250})
	for path, want := range map[string]struct {
		language string
		titles   []string
		dates    []string
		link     string // of the last entry
	}{
		"/public/v1/cities/Delhi/feed": {
			"en", []string{"Air quality of Delhi", "Delhi: AQI 250, Poor", "Delhi: AQI 310, Very Poor"},
			[]string{"Fri, 20 Nov 2026 06:30:00 +0000", "Fri, 20 Nov 2026 04:30:00 +0000"}, "https://air.example/public/v1/cities/Delhi",
		},
		"/public/v1/cities/Delhi/feed?language=ta": {
			"ta", []string{"காற்றின் தரம்: Delhi", "Delhi: AQI 250, மோசம்", "Delhi: AQI 310, மிக மோசம்"},
			[]string{"Fri, 20 Nov 2026 06:30:00 +0000", "Fri, 20 Nov 2026 04:30:00 +0000"}, "https://air.example/public/v1/cities/Delhi",
		},
		"/public/v1/alerts?language=hi": {
			"hi", []string{"वायु गुणवत्ता की चेतावनियाँ", "Delhi: AQI 266, ख़राब"},
			[]string{"Fri, 20 Nov 2026 08:30:00 +0000"}, "https://air.example/public/v1/cities/Delhi/alert.cap",
		},
	} {
		t.Run(path, func(t *testing.T) {
			base, query, _ := strings.Cut(path, "?")
			status, h, body := w.open(t, base+".rss?"+query)
			if status != http.StatusOK || h.Get("Content-Type") != "application/rss+xml" {
				t.Fatalf("status %d, type %q: %s", status, h.Get("Content-Type"), body)
			}
			links := elements(t, body, "link")
			got := []any{elements(t, body, "language"), elements(t, body, "title"), elements(t, body, "pubDate"), links[len(links)-1]}
			if diff := cmp.Diff([]any{[]string{want.language}, want.titles, want.dates, want.link}, got); diff != "" {
				t.Errorf("language, titles, times and link (-want +got):\n%s", diff)
			}
			_, _, atom := w.open(t, base+".atom?"+query)
			if diff := cmp.Diff(elements(t, atom, "title"), elements(t, body, "title")); diff != "" {
				t.Errorf("titles (-Atom +RSS):\n%s", diff)
			}
			if diff := cmp.Diff(elements(t, atom, "summary"), elements(t, body, "description")[1:]); diff != "" {
				t.Errorf("summaries (-Atom +RSS):\n%s", diff)
			}
			if want := ` xml:lang="` + want.language + `"`; !strings.Contains(atom, want) {
				t.Errorf("the feed in Atom lacks%s: %s", want, atom)
			}
		})
	}
}

// RSS has no other way to say that there is no date, and readers show 1970 as one.
func TestFeedWithoutAQIHasNoBuildDate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "cpcb-a", "Delhi", "Delhi", 28.6, 77.2)
	w.serve(t)
	w.refresh(t)
	if status, _, body := w.open(t, "/public/v1/alerts.rss"); status != http.StatusOK || strings.Contains(body, "lastBuildDate") {
		t.Errorf("status %d: %s", status, body)
	}
}

// A feed is in exactly one of the languages of advice, as every other form of the public edge.
func TestInvalidLanguagesOfPublicFeeds(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, path := range []string{"cities/Delhi/feed.rss?language=ta-IN", "cities/Delhi/feed.atom?language=", "alerts.rss?language=fr"} {
		if status, _, body := w.open(t, "/public/v1/"+path); status != http.StatusBadRequest || !strings.Contains(body, `"field":"language"`) {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
}
