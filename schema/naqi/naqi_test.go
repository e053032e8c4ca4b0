package naqi

import (
	"fmt"
	"math"
	"testing"

	"vayu/schema/air"
)

func TestSubIndexOfPublishedEdgesAndTies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    air.Pollutant
		conc float64
		want int
	}{
		{air.PM25, 0, 0},
		{air.PM25, 30, 50},
		{air.PM25, 45, 75},
		{air.PM25, 250, 400},
		{air.PM25, 315, 450},
		{air.PM25, 380, 500},
		{air.PM25, 9999, 500},
		{air.PM25, math.Inf(1), 500},
		{air.PM10, 108.88, 106},
		{air.PM10, 510, 500},
		{air.CO, 1.13, 57}, // 56.5 exactly: half-up
		{air.CO, 3.03, 113},
		{air.O3, 208, 300},
		{air.Pb, 0.75, 75},
	} {
		t.Run(fmt.Sprintf("%v %v", c.p, c.conc), func(t *testing.T) {
			if got, ok := SubIndex(c.p, c.conc); !ok || got != c.want {
				t.Errorf("SubIndex(%v, %v) = %d, %v; want %d", c.p, c.conc, got, ok, c.want)
			}
		})
	}
}

func TestSubIndexRejectsInvalidConcentrations(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{-0.01, math.NaN(), math.Inf(-1)} {
		if got, ok := SubIndex(air.PM10, v); ok {
			t.Errorf("SubIndex(PM10, %v) = %d, want a refusal", v, got)
		}
	}
	if _, ok := SubIndex(0, 1); ok {
		t.Error("SubIndex of no pollutant answered")
	}
}

func TestInverseRoundTrips(t *testing.T) {
	t.Parallel()
	for _, p := range air.Pollutants {
		for want := range MaxIndex + 1 {
			conc, ok := Inverse(p, want)
			if !ok {
				t.Fatalf("Inverse(%v, %d) refused", p, want)
			}
			if got, _ := SubIndex(p, conc); got != want {
				t.Errorf("SubIndex(%v, Inverse(%d) = %v) = %d", p, want, conc, got)
			}
		}
		if _, ok := Inverse(p, MaxIndex+1); ok {
			t.Errorf("Inverse(%v, 501) answered", p)
		}
	}
}

func TestIndexNeedsThreePollutantsAndParticles(t *testing.T) {
	t.Parallel()
	of := func(pairs ...int) SubIndices {
		s := None()
		for i := 0; i < len(pairs); i += 2 {
			s[pairs[i]] = pairs[i+1]
		}
		return s
	}
	pm25, pm10, no2, so2, co := int(air.PM25), int(air.PM10), int(air.NO2), int(air.SO2), int(air.CO)
	for _, c := range []struct {
		name string
		in   SubIndices
		aqi  int
		dom  air.Pollutant
		ok   bool
	}{
		{"two are too few", of(pm25, 10, no2, 20), 0, 0, false},
		{"three without particles", of(no2, 10, so2, 20, co, 30), 0, 0, false},
		{"the largest leads", of(pm25, 10, no2, 20, co, 30), 30, air.CO, true},
		{"PM10 leads among equals", of(pm25, 30, pm10, 30, co, 30), 30, air.PM10, true},
		{"zero is a figure", of(pm25, 0, no2, 0, co, 0), 0, air.PM25, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if aqi, dom, ok := Index(c.in); aqi != c.aqi || dom != c.dom || ok != c.ok {
				t.Errorf("got %d %v %v, want %d %v %v", aqi, dom, ok, c.aqi, c.dom, c.ok)
			}
		})
	}
}

func TestCategoryChangesAfterEachEdge(t *testing.T) {
	t.Parallel()
	want := map[int]string{
		0: "Good", 50: "Good", 51: "Satisfactory", 100: "Satisfactory", 101: "Moderate", 200: "Moderate",
		201: "Poor", 300: "Poor", 301: "Very Poor", 400: "Very Poor", 401: "Severe", 500: "Severe",
	}
	for aqi, name := range want {
		if got := Category(aqi); got != name {
			t.Errorf("Category(%d) = %q, want %q", aqi, got, name)
		}
		if Health(name) == "" {
			t.Errorf("no health statement for %q", name)
		}
	}
}

func TestMeanRoundsHalfUp(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]int{{5, 2, 3}, {4, 2, 2}, {7, 3, 2}, {8, 3, 3}} {
		if got := Mean(c[0], c[1]); got != c[2] {
			t.Errorf("Mean(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
