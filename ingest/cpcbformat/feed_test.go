package cpcbformat

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/internal/testing/realdata"
	"vayu/schema"
	"vayu/schema/air"
)

// TestFeedAgreesWithCPCB compares our AQI and dominant pollutant with CPCB's for
// every station of a captured feed. It includes ties of the largest sub-index and
// stations without an AQI.
func TestFeedAgreesWithCPCB(t *testing.T) {
	t.Parallel()
	file, err := os.Open(realdata.Path(t, "cpcb/rss_feed_2025-12-09_part.xml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stations, err := readFeed(file, ingest.NewBuilder("cpcb", time.Now(), nil))
	if err != nil {
		t.Fatal(err)
	}
	agreed, refused := 0, 0
	for i := range stations {
		s := &stations[i]
		aqi, dominant, ok := s.index()
		theirs, known := air.ParsePollutant(s.dominant)
		switch {
		case !ok && s.value == "":
			refused++
		case ok && strconv.Itoa(aqi) == s.value && known && dominant == theirs:
			agreed++
		default:
			t.Errorf("%s: %d, %s, %v here; %q, %q in the feed", s.name, aqi, dominant, ok, s.value, s.dominant)
		}
	}
	if agreed != 191 || refused != 3 {
		t.Errorf("%d agree and %d are refused by both, want 191 and 3", agreed, refused)
	}
	if err := gate(stations); err != nil {
		t.Error(err)
	}
}

// TestGate checks that up to 2 % of the stations may differ, and that a feed with
// more is rejected.
func TestGate(t *testing.T) {
	t.Parallel()
	for wrong, fails := range map[int]bool{0: false, 2: false, 3: true, 100: true} {
		var text strings.Builder
		text.WriteString(`<AqIndex><Country><State id="Goa"><City id="Panaji">`)
		for i := range 100 {
			value := 70
			if i < wrong {
				value = 71
			}
			fmt.Fprintf(&text, `<Station id="S%d, Panaji - GSPCB" lastupdate="09-12-2025 12:00:00">`, i)
			for _, f := range []string{"PM10 70", "NO2 9", "SO2 8"} {
				id, avg, _ := strings.Cut(f, " ")
				fmt.Fprintf(&text, `<Pollutant_Index id=%q Avg=%q/>`, id, avg)
			}
			fmt.Fprintf(&text, `<Air_Quality_Index Value="%d"/></Station>`, value)
		}
		text.WriteString(`</City></State></Country></AqIndex>`)
		rows := 0
		b := ingest.NewBuilder("test", time.Date(2025, 12, 9, 7, 0, 0, 0, time.UTC), func(b *ingest.Batch) error {
			defer b.Release()
			rows += b.Rows()
			return nil
		})
		err := ParseFeed(strings.NewReader(text.String()), b)
		if closing := b.Close(); closing != nil {
			t.Fatal(closing)
		}
		var refused *ingest.BatchError
		if got := errors.As(err, &refused) && refused.Reason == ingest.GateFailed; got != fails {
			t.Errorf("%d of 100 stations wrong: error %v", wrong, err)
		}
		if want := map[bool]int{false: 300, true: 0}[fails]; rows != want {
			t.Errorf("%d of 100 stations wrong: %d readings, want %d", wrong, rows, want)
		}
	}
}

func FuzzParseFeed(f *testing.F) {
	f.Add(`<AqIndex><Country id="India"><State id="Goa"><City id="Panaji"><Station id="A, Panaji - GSPCB" lastupdate="09-12-2025 12:00:00" latitude="15" longitude="73">` +
		`<Pollutant_Index id="PM10" Min="70" Max="70" Avg="70" Hourly_sub_index="NA"/><Pollutant_Index id="NO2" Avg="9"/><Pollutant_Index id="OZONE" Avg="8"/>` +
		`<Air_Quality_Index Value="70" Predominant_Parameter="PM10"/></Station></City></State></Country></AqIndex>`)
	f.Add(`<AqIndex><Station id="A" lastupdate="09-12-2025 12:00:00"><Pollutant_Index id="PM10" Avg="1e400"/></Station></AqIndex>`)
	f.Add(`<!DOCTYPE a [<!ENTITY b "c">]><AqIndex>&b;</AqIndex>`)
	now := time.Date(2025, 12, 9, 7, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		b := ingest.NewBuilder("test", now, func(b *ingest.Batch) error {
			defer b.Release()
			for i := range b.Rows() {
				if r := b.Reading(i); ingest.Check(&r, now) != ingest.None {
					t.Errorf("a reading that the rules refuse: %+v", r)
				}
			}
			return nil
		})
		if ParseFeed(strings.NewReader(text), b) != nil {
			b.Discard()
			return
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzParseTime(f *testing.F) {
	f.Add("09-12-2025 12:00:00")
	f.Add("06-Oct-2017 - 04:00")
	f.Add("2024-02-29T24:00")
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := ParseTime(text)
		if !ok {
			return
		}
		// Formatted again, a parsed time occurs in the text.
		if local := at.In(schema.India); !strings.Contains(text, local.Format("2006")) && !strings.Contains(text, "24:00") {
			t.Errorf("ParseTime(%q) = %s", text, local)
		}
	})
}
