package scale_test

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"vayu/schema/air"
	"vayu/schema/scale"
)

// band is a line of EEA's table. The last band has no upper limit.
type band struct {
	level       int
	name        string
	first, last int
}

// printedBands returns EEA's table as printed, in whole µg/m³.
func printedBands(t *testing.T) map[air.Pollutant][]band {
	t.Helper()
	f, err := os.Open("testdata/eea-2024.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	pollutants := map[string]air.Pollutant{"pm25": air.PM25, "pm10": air.PM10, "no2": air.NO2, "o3": air.O3, "so2": air.SO2}
	out := map[air.Pollutant][]band{}
	for _, row := range rows[1:] {
		of, known := pollutants[row[0]]
		level, err1 := strconv.Atoi(row[1])
		first, err2 := strconv.Atoi(row[3])
		last, err3 := strconv.Atoi(row[4])
		if row[4] == "" {
			last, err3 = 3000, nil
		}
		if !known || err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("the line %q is invalid: its pollutant is known: %v; errors of its numbers: %v, %v, %v", row, known, err1, err2, err3)
		}
		out[of] = append(out[of], band{level, row[2], first, last})
	}
	if len(out) != len(pollutants) {
		t.Fatalf("the table has %d pollutants, want %d", len(out), len(pollutants))
	}
	return out
}

// Every whole number of EEA's table has its level, and 100,000 other concentrations have the level of the next whole
// number above them.
func TestEuropeanLevelsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(20, 24))
	for of, bands := range printedBands(t) {
		t.Run(of.String(), func(t *testing.T) {
			check := func(value float64, want band) {
				t.Helper()
				index, category, _ := part(scale.Europe.Of(hourly(place(), of, value)), of)
				if index != float64(want.level) || category != want.name {
					t.Errorf("%v µg/m³ has the level %v, %q, want %d, %q", value, index, category, want.level, want.name)
				}
			}
			if len(bands) != len(scale.Europe.Categories()) || bands[0].first != 0 {
				t.Fatalf("the table has the bands %v", bands)
			}
			for i, b := range bands {
				if i > 0 && b.first != bands[i-1].last+1 {
					t.Fatalf("the bands %v and %v have a gap", bands[i-1], b)
				}
				for whole := b.first; whole <= b.last; whole++ {
					check(float64(whole), b)
				}
			}
			for range 20_000 {
				above := 1 + chance.IntN(600)
				i := 0
				for bands[i].last < above {
					i++
				}
				check(float64(above)-0.999+0.998*chance.Float64(), bands[i])
			}
		})
	}
}
