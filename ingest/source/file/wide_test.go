package file

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/source/file/table"
	"vayu/internal/testing/realdata"
	"vayu/schema"
	"vayu/schema/air"
)

// TestRawQuarters compares each of the 15 stations of caaqm15 with counts of an
// independent script. It covers the parameters of the index. All but one keep the
// beginning of an interval, so the first quarter of the year ends at 00:15.
func TestRawQuarters(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct {
		station           string
		readings, missing int
	}{
		"alandur-bus-depot-chennai-cpcb-chennai-tamil-nadu-2020":                {"cpcb-alandur-bus-depot-chennai-cpcb", 93078, 82602},
		"ballygunge-kolkata-wbpcb-2020":                                         {"cpcb-ballygunge-kolkata-wbpcb", 130707, 10097},
		"chhatrapati-shivaji-intl-airport-t2-mumbai-mpcb-2020":                  {"cpcb-chhatrapati-shivaji-intl-airport-t2-mumbai-mpcb", 142721, 32959},
		"deshpande-nagar-hubballi-kspcb-hubbali-karnataka-2020":                 {"cpcb-deshpande-nagar-hubballi-kspcb", 97108, 78572},
		"fort-william-kolkata-wbpcb-kolkata-west-bengal-2020":                   {"cpcb-fort-william-kolkata-wbpcb", 162882, 12798},
		"gvm-corporation-visakhapatnam-appcb-visakhapatnam-andhra-pradesh-2020": {"cpcb-gvm-corporation-visakhapatnam-appcb", 139615, 36065},
		"kalal-majra-khanna-ppcb-2020":                                          {"cpcb-kalal-majra-khanna-ppcb", 166149, 9531},
		"maninagar-ahmedabad-gpcb-ahmedabad-2020":                               {"cpcb-maninagar-ahmedabad-gpcb", 148455, 27225},
		"midc-khutala-chandrapur-mpcb-2020":                                     {"cpcb-midc-khutala-chandrapur-mpcb", 148446, 27234},
		"nsit-dwarka-delhi-cpcb-2020":                                           {"cpcb-nsit-dwarka-delhi-cpcb", 146565, 29115},
		"railway-colony-guwahati-apcb-guwahati-assam-2020":                      {"cpcb-railway-colony-guwahati-apcb", 167300, 8380},
		"sector-10-gandhinagar-gpcb-2020":                                       {"cpcb-sector-10-gandhinagar-gpcb", 170291, 5389},
		"t-t-nagar-bhopal-mppcb-bhopal-madhya-pradesh-2020":                     {"cpcb-t-t-nagar-bhopal-mppcb", 162116, 13564},
		"tamaka-ind-area-kolar-kspcb-2020":                                      {"cpcb-tamaka-ind-area-kolar-kspcb", 49576, 126104},
		"ward-32-bapupara-siliguri-wbpcb-2020":                                  {"cpcb-ward-32-bapupara-siliguri-wbpcb", 146303, 29377},
	} {
		t.Run(want.station, func(t *testing.T) {
			t.Parallel()
			path := realdata.Path(t, filepath.Join("caaqm15", file+".csv.gz"))
			f, err := Open("file", path, 0, now, shippedFormats(t))
			if err != nil {
				t.Fatal(err)
			}
			readings, missing, cut := 0, 0, 0
			first := now()
			err = f.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
				defer b.Release()
				for _, r := range b.Missing {
					if r.Parameter.Indexed() {
						missing++
					}
				}
				for i := range b.Rows() {
					r := b.Reading(i)
					if !r.Parameter.Indexed() { // NO and NOx
						continue
					}
					readings++
					if r.Station != want.station || r.Kind != air.Concentration {
						t.Fatalf("%+v", r)
					}
					if r.Averaging != 15 {
						cut++
					}
					if r.At.Before(first) {
						first = r.At
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if readings != want.readings || missing != want.missing {
				t.Errorf("%d readings and %d missing, want %d and %d", readings, missing, want.readings, want.missing)
			}
			if begin := time.Date(2020, 1, 1, 0, 15, 0, 0, schema.India); !first.Equal(begin) {
				t.Errorf("the first interval ends at %s, want %s", first.In(schema.India), begin)
			}
			if wantCut := map[string]int{"cpcb-ballygunge-kolkata-wbpcb": 4}[want.station]; cut != wantCut {
				t.Errorf("%d readings of other than 15 minutes, want %d", cut, wantCut)
			}
		})
	}
}

// TestTimesAreStartsOrEnds covers the detection in tables with one time a row.
func TestTimesAreStartsOrEnds(t *testing.T) {
	t.Parallel()
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, schema.India)
	for _, c := range []struct {
		about       string
		first, last time.Duration
		ends        bool
	}{
		{"a year of beginnings", 0, 24*time.Hour - 15*time.Minute, false},
		{"a year of ends", 15 * time.Minute, 24 * time.Hour, true},
		{"ends until the moment of the export", 15 * time.Minute, 16*time.Hour + 11*time.Minute, true},
		{"beginnings whose first is missing", 15 * time.Minute, 24*time.Hour - 15*time.Minute, false},
		{"beginnings from another time of the day", 13 * time.Hour, 24 * time.Hour, false},
	} {
		t.Run(c.about, func(t *testing.T) {
			w := &wide{spacings: table.NewSpacings(), period: 15 * time.Minute, first: day.Add(c.first), last: day.Add(c.last)}
			if w.decide(); w.ends != c.ends {
				t.Errorf("ends %v, want %v", w.ends, c.ends)
			}
		})
	}
}

// TestStationNameOf covers the names of files.
func TestStationNameOf(t *testing.T) {
	t.Parallel()
	type answer struct {
		Name   string
		Period time.Duration
	}
	for file, want := range map[string]answer{
		"Raw_data_1Hr_2023_site_5024_Anand_Vihar_Delhi_DPCC_1Hr.csv":                {"Anand Vihar Delhi DPCC", time.Hour},
		"Raw_data_15Min_2025_site_293_Alandur_Bus_Depot_Chennai_CPCB_15Min (2).csv": {"Alandur Bus Depot Chennai CPCB", 15 * time.Minute},
		"raw_data_8hrs_2025_site_307_Sanjay_Palace_Agra_UPPCB_8Hrs.csv.gz":          {"Sanjay Palace Agra UPPCB", 8 * time.Hour},
		"site_307_Sanjay_Palace_Agra_UPPCB_1Day.csv":                                {"Sanjay Palace Agra UPPCB", 24 * time.Hour},
		"15Min_2017_site_168_Bandra_Mumbai_MPCB.csv":                                {"Bandra Mumbai MPCB", 15 * time.Minute},
		"site_115_2020.csv":                  {"2020", 0},
		"nsit-dwarka-delhi-cpcb-2020.csv.gz": {"nsit dwarka delhi cpcb", 0},
		"download.csv":                       {"download", 0},
	} {
		var got answer
		got.Name, got.Period = stationNameOf(plainName(file))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
