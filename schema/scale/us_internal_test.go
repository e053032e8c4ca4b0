package scale

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"
	"testing"
)

// usTables are EPA's tables by the names that the file of a library has.
var usTables = map[string]*usTable{
	"pm25": &usPM25, "pm10": &usPM10, "o3_8h": &usO3, "o3_1h": &usO3h, "co": &usCO, "so2_1h": &usSO2, "so2_24h": &usSO2d, "no2": &usNO2,
}

// Table 6 of EPA-454/B-24-002 as printed: each band from the first to the last concentration, in the printed unit.
func TestUSIndexAtEveryEdge(t *testing.T) {
	t.Parallel()
	edges := [][2]int{{0, 50}, {51, 100}, {101, 150}, {151, 200}, {201, 300}, {301, 500}}
	for name, c := range map[string]struct {
		step  float64
		bands map[int][2]float64 // by position in edges
	}{
		"pm25":    {0.1, map[int][2]float64{0: {0, 9}, 1: {9.1, 35.4}, 2: {35.5, 55.4}, 3: {55.5, 125.4}, 4: {125.5, 225.4}, 5: {225.5, 325.4}}},
		"pm10":    {1, map[int][2]float64{0: {0, 54}, 1: {55, 154}, 2: {155, 254}, 3: {255, 354}, 4: {355, 424}, 5: {425, 604}}},
		"o3_8h":   {1, map[int][2]float64{0: {0, 54}, 1: {55, 70}, 2: {71, 85}, 3: {86, 105}, 4: {106, 200}}},
		"o3_1h":   {1, map[int][2]float64{2: {125, 164}, 3: {165, 204}, 4: {205, 404}, 5: {405, 604}}},
		"co":      {0.1, map[int][2]float64{0: {0, 4.4}, 1: {4.5, 9.4}, 2: {9.5, 12.4}, 3: {12.5, 15.4}, 4: {15.5, 30.4}, 5: {30.5, 50.4}}},
		"so2_1h":  {1, map[int][2]float64{0: {0, 35}, 1: {36, 75}, 2: {76, 185}, 3: {186, 304}}},
		"so2_24h": {1, map[int][2]float64{4: {305, 604}, 5: {605, 1004}}},
		"no2":     {1, map[int][2]float64{0: {0, 53}, 1: {54, 100}, 2: {101, 360}, 3: {361, 649}, 4: {650, 1249}, 5: {1250, 2049}}},
	} {
		t.Run(name, func(t *testing.T) {
			table := usTables[name]
			check := func(value float64, want int) {
				if got, ok := table.index(value); !ok || got != want {
					t.Errorf("%v has the index %d (%v), want %d", value, got, ok, want)
				}
			}
			for i, band := range c.bands {
				check(band[0], edges[i][0])
				check(band[1], edges[i][1])
				if i < 5 { // the fraction below the next step is truncated
					check(band[1]+0.9*c.step, edges[i][1])
				}
				if got, want := usCategory(edges[i][1]).Name, usCategories[i].Name; got != want {
					t.Errorf("the index %d is %q, want %q", edges[i][1], got, want)
				}
			}
		})
	}
	if _, ok := usO3.index(201); ok {
		t.Error("8-hour means of O3 above 200 ppb have an index")
	}
	if _, ok := usPM25.index(-1); ok {
		t.Error("a negative concentration has an index")
	}
}

// .ci/scales writes the file with indices that libraries of others have computed: table, concentration, and the smallest
// and the largest index that agrees.
func TestUSIndexAgreesWithLibraries(t *testing.T) {
	t.Parallel()
	name := os.Getenv("VAYU_TEST_SCALES")
	if name == "" {
		t.Skip("VAYU_TEST_SCALES names no file; .ci/scales writes one")
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for r := csv.NewReader(f); ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		value, err1 := strconv.ParseFloat(row[1], 64)
		least, err2 := strconv.Atoi(row[2])
		most, err3 := strconv.Atoi(row[3])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if got, ok := usTables[row[0]].index(value); !ok || got < least || got > most {
			t.Errorf("%s of %s has the index %d (%v), the library has %d to %d", row[1], row[0], got, ok, least, most)
		}
	}
	if n < 100_000 {
		t.Errorf("the file has %d values, want 100,000", n)
	}
	if !t.Failed() {
		t.Logf("%d values agree", n)
	}
}
