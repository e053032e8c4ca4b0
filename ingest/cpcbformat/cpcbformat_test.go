package cpcbformat

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/schema"
	"vayu/schema/air"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, city, agency string
		ok                 bool
	}{
		{"Anand Vihar, Delhi - DPCC", "Delhi", "DPCC", true},
		{"IHBAS, Dilshad Garden,New Delhi - CPCB", "New Delhi", "CPCB", true},
		{"15th Mile-Nongthymmai, Byrnihat - Meghalaya PCB", "Byrnihat", "Meghalaya PCB", true},
		{"US Diplomatic Post: New Delhi", "", "", false},
		{"East Arjun Nagar-Delhi CPCB", "", "", false},
		{" , Delhi - DPCC", "", "", false},
		{"Roof, - ", "", "", false},
		{"", "", "", false},
	} {
		t.Run(strconv.Quote(c.name), func(t *testing.T) {
			city, agency, ok := Split(c.name)
			if city != c.city || agency != c.agency || ok != c.ok {
				t.Errorf("Split(%q) = %q, %q, %v, want %q, %q, %v", c.name, city, agency, ok, c.city, c.agency, c.ok)
			}
		})
	}
}

func TestStationKeepsItsIdentity(t *testing.T) {
	t.Parallel()
	want := air.Station{
		ID: "cpcb-bwssb-kadabesanahalli-bengaluru-cpcb", Name: "BWSSB Kadabesanahalli, Bengaluru - CPCB", City: "Bengaluru",
		Kind: air.Reference, Attribution: "Central Pollution Control Board (CPCB)", Licence: "GODL-India",
	}
	if diff := cmp.Diff(want, Station(" BWSSB  Kadabesanahalli,  Bengaluru - CPCB ", "", "", 0, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	old, now := Station("R K Puram, New Delhi - DPCC", "New Delhi", "Delhi", 0, 0), Station("R K Puram, Delhi - DPCC", "Delhi", "Delhi", 0, 0)
	if old.ID != now.ID {
		t.Errorf("one station under two names of its city is %q and %q", old.ID, now.ID)
	}
	other := Station("Anand Vihar, Delhi - DPCC", "Delhi", "Delhi", 28.6, 77.3)
	if got, want := other.Attribution, "Central Pollution Control Board (CPCB); DPCC"; got != want {
		t.Errorf("attribution %q, want %q", got, want)
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lat, lon string
		want     [2]float64
		reason   ingest.Reason
	}{
		{"28.6", " 77.3 ", [2]float64{28.6, 77.3}, ingest.None},
		{"", "", [2]float64{}, ingest.None},
		{"NA", "NA", [2]float64{}, ingest.None},
		{"0", "0.0", [2]float64{}, ingest.BadPosition},
		{"28.6", "", [2]float64{}, ingest.BadPosition},
		{"north", "east", [2]float64{}, ingest.BadPosition},
		{"NaN", "77", [2]float64{}, ingest.BadPosition},
		{"1e400", "77", [2]float64{}, ingest.BadPosition},
		{"100", "77", [2]float64{}, ingest.BadPosition},
	} {
		t.Run(fmt.Sprintf("%q, %q", c.lat, c.lon), func(t *testing.T) {
			lat, lon, reason := Position(c.lat, c.lon)
			if got := [2]float64{lat, lon}; got != c.want || reason != c.reason {
				t.Errorf("Position(%q, %q) = %v, %q, want %v, %q", c.lat, c.lon, got, reason, c.want, c.reason)
			}
		})
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"09-12-2025 12:00:00":   "2025-12-09T06:30:00Z",
		"01-04-2020 00:00":      "2020-03-31T18:30:00Z",
		"06-Oct-2017 - 04:00":   "2017-10-05T22:30:00Z",
		"31-DEC-2019 24:00":     "2019-12-31T18:30:00Z",
		"2024-02-29 23:59:59":   "2024-02-29T18:29:59Z",
		"2024-02-29T05:30":      "2024-02-29T00:00:00Z",
		" 1-04-2020 00:00":      "",
		"29-02-2023 00:00":      "",
		"31-04-2020 00:00":      "",
		"01-13-2020 00:00":      "",
		"00-01-2020 00:00":      "",
		"01-Abc-2020 00:00":     "",
		"01-04-2020":            "",
		"01-04-202000:00":       "",
		"01-04-2020 24:01":      "",
		"01-04-2020 12:60":      "",
		"2024-02-29T05:30:00Z":  "",
		"01-04-2020 00:00+0530": "",
		"":                      "",
	} {
		got, ok := ParseTime(text)
		if ok != (want != "") || ok && got.Format(time.RFC3339) != want {
			t.Errorf("ParseTime(%q) = %s, %v, want %q", text, got, ok, want)
		}
		if again, same := ParseTime([]byte(text)); same != ok || !again.Equal(got) {
			t.Errorf("ParseTime of bytes %q = %s, %v", text, again, same)
		}
	}
	for text, want := range map[string]string{
		"09-12-2025 12:00:00": "2025-12-09T06:30:00Z",
		"07-04-2026 21:00":    "2026-04-07T15:30:00Z",
		"2025-10-10 18:00:00": "2025-10-10T12:30:00Z",
		"2025-10-10T18:00:00": "2025-10-10T12:30:00Z",
		"2025-10-10 18:00":    "2025-10-10T12:30:00Z",
		"06-Oct-2017 - 04:00": "", "2025-10-10T18:00:00Z": "", "2025-10-10T18:00:00+05:30": "",
		"10-10-2025": "", "10-10-2025  18:00": "", "4/7/2026 21:00": "", "": "",
	} {
		got, ok := ParseUpdate(text)
		if ok != (want != "") || ok && got.Format(time.RFC3339) != want {
			t.Errorf("ParseUpdate(%q) = %s, %v, want %q", text, got, ok, want)
		}
	}
	if _, ok := ParseStamp("2025-12-09 06:30:00"); ok {
		t.Error("the feed's time was read in another form")
	}
	if day, ok := ParseDate("2015-01-01"); !ok || day.Format(time.RFC3339) != "2014-12-31T18:30:00Z" {
		t.Errorf("ParseDate = %s, %v", day, ok)
	}
	if _, ok := ParseDate("2015-01-01 00:00"); ok {
		t.Error("a time was taken for a date")
	}
}

// TestParseTimeAgreesWithTheLibrary covers every day of 1999 to 2101.
func TestParseTimeAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	for day := time.Date(1999, 1, 1, 13, 7, 11, 0, schema.India); day.Year() < 2102; day = day.AddDate(0, 0, 1) {
		for _, form := range []string{"02-01-2006 15:04:05", "02-Jan-2006 15:04:05", "2006-01-02 15:04:05"} {
			if got, ok := ParseTime(day.Format(form)); !ok || !got.Equal(day) {
				t.Fatalf("ParseTime(%q) = %s, %v", day.Format(form), got, ok)
			}
		}
	}
}

// TestNamed checks that names without punctuation, as in file names, give the same
// id as the network's own names.
func TestNamed(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"Anand Vihar Delhi DPCC":                            "Anand Vihar, Delhi - DPCC",
		"R K Puram New Delhi DPCC":                          "R K Puram, New Delhi - DPCC",
		"IIT Delhi Delhi IITM":                              "IIT Delhi, Delhi - IITM",
		"Sector-51 Gurugram HSPCB":                          "Sector-51, Gurugram - HSPCB",
		"15th Mile-Nongthymmai Byrnihat Meghalaya PCB":      "15th Mile-Nongthymmai, Byrnihat - Meghalaya PCB",
		"alandur bus depot chennai cpcb chennai tamil nadu": "Alandur Bus Depot, Chennai - CPCB",
		"Anand Vihar Delhi":                                 "", // no agency
		"Somewhere Atlantis DPCC":                           "", // no city
		"Delhi DPCC":                                        "", // no place
		"Anand Vihar Delhi DPCC backup":                     "",
		"":                                                  "",
	} {
		got, ok := ParseLooseName(words)
		if ok != (want != "") || got.Name != want || ok && got.ID != Station(want, "", "", 0, 0).ID {
			t.Errorf("Named(%q) = %q, %v, want %q", words, got.Name, ok, want)
		}
	}
}

func TestTidy(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Alandur Bus Depot, Chennai - CPCB Chennai, Tamil Nadu":                 "Alandur Bus Depot, Chennai - CPCB",
		"Ballygunge, Kolkata -WBPCB":                                            "Ballygunge, Kolkata - WBPCB",
		"GVM Corporation, Visakhapatnam - APPCB, Visakhapatnam, Andhra Pradesh": "GVM Corporation, Visakhapatnam - APPCB",
		"Deshpande Nagar, Hubballi - KSPCB Hubbali Karnataka":                   "Deshpande Nagar, Hubballi - KSPCB",
		"Kariavattom, Thiruvananthapuram - Kerala PCB":                          "Kariavattom, Thiruvananthapuram - Kerala PCB",
		"Sector - 62, Noida - IMD":                                              "Sector - 62, Noida - IMD",
		"Charitra Van, Buxar - BSPCB (Formerly known as Central Jail)":          "Charitra Van, Buxar - BSPCB (Formerly known as Central Jail)",
		"US Diplomatic Post: New Delhi":                                         "US Diplomatic Post: New Delhi",
	} {
		if got := NormalizeName(name); got != want {
			t.Errorf("Tidy(%q) = %q, want %q", name, got, want)
		}
	}
}
