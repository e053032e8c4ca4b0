package scale_test

import (
	"math"
	"testing"

	"vayu/schema/air"
	"vayu/schema/naqi"
	"vayu/schema/scale"
)

// place returns a place without figures.
func place() *scale.Place {
	p := scale.Place{}
	for i := range p.Mean {
		p.Mean[i] = math.NaN()
	}
	return &p
}

// hourly returns a place in whose last 24 hours a pollutant has the same mean.
func hourly(p *scale.Place, of air.Pollutant, mean float64) *scale.Place {
	if p.Hours == nil {
		p.Hours = new(scale.Hours)
		for i := range p.Hours {
			p.Hours[i] = scale.Unmeasured()
		}
	}
	for i := range p.Hours {
		p.Hours[i][of-1] = mean
	}
	return p
}

// part returns the index of a pollutant; -1 for none.
func part(r scale.Result, of air.Pollutant) (index float64, category, averaging string) {
	for _, p := range r.Parts {
		if p.Pollutant == of {
			return p.Index, p.Category.Name, p.Averaging
		}
	}
	return -1, "", ""
}

// EEA's table: a limit belongs to the lower level.
func TestEuropeanLevelsAtEveryEdge(t *testing.T) {
	t.Parallel()
	names := []string{"Good", "Fair", "Moderate", "Poor", "Very poor", "Extremely poor"}
	for of, edges := range map[air.Pollutant][]float64{
		air.PM25: {5, 15, 50, 90, 140}, air.PM10: {15, 45, 120, 195, 270}, air.NO2: {10, 25, 60, 100, 150},
		air.O3: {60, 100, 120, 160, 180}, air.SO2: {20, 40, 125, 190, 275},
	} {
		for i, edge := range edges {
			for value, want := range map[float64]int{edge - 0.01: i, edge: i, edge + 0.01: i + 1} {
				index, category, _ := part(scale.Europe.Of(hourly(place(), of, value)), of)
				if index != float64(want+1) || category != names[want] {
					t.Errorf("%v of %v is %v, %q, want %d, %q", value, of, index, category, want+1, names[want])
				}
			}
		}
	}
}

func TestEuropeanIndexNeedsNO2AndParticles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		measured []air.Pollutant
		known    bool
	}{
		"nothing": {nil, false}, "particles": {[]air.Pollutant{air.PM25, air.PM10}, false}, "gases": {[]air.Pollutant{air.NO2, air.O3, air.SO2}, false},
		"a road": {[]air.Pollutant{air.NO2, air.PM10}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place()
			for _, of := range c.measured {
				hourly(p, of, 30)
			}
			if r := scale.Europe.Of(p); r.Known != c.known || (r.Reason == "") != c.known {
				t.Errorf("known %v, reason %q, want %v", r.Known, r.Reason, c.known)
			}
		})
	}
}

func TestEuropeanDayIsItsWorstHour(t *testing.T) {
	t.Parallel()
	p := hourly(hourly(place(), air.NO2, 5), air.PM25, 4)
	p.Day = true
	p.Hours[7][air.PM25-1] = 91
	if r := scale.Europe.Of(p); r.Index != 5 || r.Dominant != air.PM25 {
		t.Errorf("level %v because of %v, want 5 because of PM2.5", r.Index, r.Dominant)
	}
	for i := range 7 { // 17 hours stay
		p.Hours[i][air.PM25-1] = math.NaN()
	}
	if index, _, _ := part(scale.Europe.Of(p), air.PM25); index >= 0 {
		t.Errorf("17 hours have the level %v, want none", index)
	}
}

// The example of EPA's description of the NowCast: 12 hours, the newest first.
func TestNowCast(t *testing.T) {
	t.Parallel()
	missing := math.NaN()
	for name, c := range map[string]struct {
		hours []float64
		want  float64
		known bool
	}{
		"example":                 {[]float64{13, 16, 10, 21, 74, 64, 53, 82, 90, 75, 80, 50}, 17.4, true},
		"constant":                {[]float64{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 9, true},
		"slow change":             {[]float64{40, 50}, (40 + 0.8*50) / 1.8, true},
		"gap":                     {[]float64{missing, 20, 20}, 20, true},
		"one of three":            {[]float64{missing, missing, 20, 20}, 0, false},
		"old hours do not count":  {[]float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 500}, 5, true},
		"clean air":               {[]float64{0, 0, 0}, 0, true},
		"no hours":                {nil, 0, false},
		"one hour is not enough":  {[]float64{20}, 0, false},
		"two hours of three":      {[]float64{10, missing, 10}, 10, true},
		"weights follow the hour": {[]float64{10, missing, 5}, (10 + 0.25*5) / 1.25, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, known := scale.NowCast(c.hours)
			if known != c.known || known && math.Abs(got-c.want) > 0.05 {
				t.Errorf("the NowCast is %v, %v, want %v, %v", got, known, c.want, c.known)
			}
		})
	}
}

// The forms of EPA's table for an hour, a day, and without hourly means.
func TestUSFormsOfAPollutant(t *testing.T) {
	t.Parallel()
	gas := func(of air.Pollutant, ppb float64) float64 { // in the unit of the pollutant
		v, _ := of.Parameter().Convert(ppb, "ppb")
		return v
	}
	for name, c := range map[string]struct {
		set       func(p *scale.Place)
		of        air.Pollutant
		index     float64
		averaging string
	}{
		"particles of an hour":        {func(p *scale.Place) { hourly(p, air.PM25, 35.5) }, air.PM25, 101, "nowcast"},
		"particles without hours":     {func(p *scale.Place) { p.Mean[air.PM25-1] = 35.4 }, air.PM25, 100, "24h"},
		"particles of a day":          {func(p *scale.Place) { hourly(p, air.PM25, 300).Day = true; p.Mean[air.PM25-1] = 9 }, air.PM25, 50, "24h"},
		"beyond 500":                  {func(p *scale.Place) { hourly(p, air.PM25, 425.4) }, air.PM25, 699, "nowcast"},
		"O3 of 8 hours":               {func(p *scale.Place) { hourly(p, air.O3, gas(air.O3, 70)) }, air.O3, 100, "8h"},
		"O3 of one hour is worse":     {func(p *scale.Place) { hourly(p, air.O3, 0).Hours[0][air.O3-1] = gas(air.O3, 204) }, air.O3, 200, "1h"},
		"O3 of a day":                 {func(p *scale.Place) { p.Day = true; p.Mean[air.O3-1] = gas(air.O3, 85) }, air.O3, 150, "max8h"},
		"O3 over 24 hours":            {func(p *scale.Place) { p.Mean[air.O3-1] = 50; p.DailyMean = 1 << (air.O3 - 1) }, air.O3, -1, ""},
		"O3 beyond its 8-hour table":  {func(p *scale.Place) { p.Mean[air.O3-1] = gas(air.O3, 250) }, air.O3, 300, "max8h"},
		"CO":                          {func(p *scale.Place) { hourly(p, air.CO, gas(air.CO, 9400)) }, air.CO, 100, "8h"},
		"NO2":                         {func(p *scale.Place) { hourly(p, air.NO2, gas(air.NO2, 101)) }, air.NO2, 101, "1h"},
		"NO2 of a day":                {func(p *scale.Place) { hourly(p, air.NO2, 0).Day = true; p.Hours[20][air.NO2-1] = gas(air.NO2, 360) }, air.NO2, 150, "max1h"},
		"NO2 has no 24-hour form":     {func(p *scale.Place) { p.Mean[air.NO2-1] = 80 }, air.NO2, -1, ""},
		"SO2 of an hour":              {func(p *scale.Place) { hourly(p, air.SO2, gas(air.SO2, 304)) }, air.SO2, 200, "1h"},
		"SO2 above its 1-hour table":  {func(p *scale.Place) { hourly(p, air.SO2, gas(air.SO2, 400)) }, air.SO2, 200, "1h"},
		"SO2 of 24 hours":             {func(p *scale.Place) { p.Mean[air.SO2-1] = gas(air.SO2, 604) }, air.SO2, 300, "24h"},
		"an hour of three hours ago":  {func(p *scale.Place) { hourly(p, air.NO2, math.NaN()).Hours[3][air.NO2-1] = 50 }, air.NO2, -1, ""},
		"an hour that is not too old": {func(p *scale.Place) { hourly(p, air.NO2, math.NaN()).Hours[2][air.NO2-1] = gas(air.NO2, 53) }, air.NO2, 50, "1h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place()
			c.set(p)
			index, _, averaging := part(scale.US.Of(p), c.of)
			if index != c.index || averaging != c.averaging {
				t.Errorf("the index is %v of %q, want %v of %q", index, averaging, c.index, c.averaging)
			}
		})
	}
}

func TestUSIndexNeedsParticlesOrOzone(t *testing.T) {
	t.Parallel()
	p := hourly(place(), air.NO2, 50)
	if r := scale.US.Of(p); r.Known || r.Reason == "" || len(r.Parts) != 1 {
		t.Errorf("NO2 alone has the index %v (%v), reason %q, parts %v; want a reason and one part", r.Index, r.Known, r.Reason, r.Parts)
	}
	p.Mean[air.PM10-1] = 55
	if r := scale.US.Of(p); !r.Known || r.Index != 51 || r.Category.Color != "#FFFF00" {
		t.Errorf("with PM10 the index is %v (%v), %v, want 51", r.Index, r.Known, r.Category)
	}
}

// Every guideline and interim target of WHO's tables.
func TestWHOLevelsAtEveryEdge(t *testing.T) {
	t.Parallel()
	const met, it4, it3, it2, it1, above = "Guideline met", "Interim target 4 met", "Interim target 3 met", "Interim target 2 met", "Interim target 1 met", "Above interim target 1"
	type edge struct {
		value float64
		want  string
	}
	for of, edges := range map[air.Pollutant][]edge{
		air.PM25: {{15, met}, {25, it4}, {37.5, it3}, {50, it2}, {75, it1}, {75.01, above}},
		air.PM10: {{45, met}, {50, it4}, {75, it3}, {100, it2}, {150, it1}, {150.01, above}},
		air.NO2:  {{25, met}, {50, it2}, {120, it1}, {120.01, above}},
		air.SO2:  {{40, met}, {50, it2}, {125, it1}, {125.01, above}},
		air.O3:   {{100, met}, {120, it2}, {160, it1}, {160.01, above}},
		air.CO:   {{10, met}, {10.01, above}},
	} {
		for i, e := range edges {
			p := place()
			p.Mean[of-1] = e.value
			if r := scale.WHO.Of(p); r.Category.Name != e.want || math.Abs(r.Index-e.value/edges[0].value) > 1e-9 {
				t.Errorf("%v of %v is %v, %q, want %q", e.value, of, r.Index, r.Category.Name, e.want)
			}
			if p.Mean[of-1] += 0.01; i < len(edges)-1 {
				if r := scale.WHO.Of(p); r.Category.Name != edges[i+1].want {
					t.Errorf("%v of %v is %q, want %q", p.Mean[of-1], of, r.Category.Name, edges[i+1].want)
				}
			}
		}
	}
	daily := place()
	daily.Mean[air.CO-1], daily.DailyMean = 7, 1<<(air.CO-1)
	if r := scale.WHO.Of(daily); r.Index != 1.75 || r.Category.Name != it1 {
		t.Errorf("7 mg/m³ of CO over 24 hours is %v, %q, want 1.75, %q", r.Index, r.Category.Name, it1)
	}
}

func TestIndianIndexContinuesAbove500(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pm10, aqi, want float64
	}{
		"within the scale": {430, 400, 400}, "at the end": {510, 500, 500}, "beyond": {670, 500, 700},
		"a city of capped stations": {800, 480, 863}, // 400 + 100 * (800-430)/80 = 862.5
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place()
			p.AQI, p.Dominant, p.Mean[air.PM10-1] = int(c.aqi), air.PM10, c.pm10
			if got := scale.Uncapped(p); got != int(c.want) {
				t.Errorf("uncapped %d, want %v", got, c.want)
			}
			if r := scale.India.Of(p); r.Index != c.aqi || r.Category.Name != naqi.Category(int(c.aqi)) {
				t.Errorf("the index is %v, %q, want %v", r.Index, r.Category.Name, c.aqi)
			}
		})
	}
}

func TestScalesHaveTexts(t *testing.T) {
	t.Parallel()
	for _, id := range scale.IDs() {
		s, ok := scale.Parse(id)
		if !ok || s.ID() != id || s.Name() == "" || s.Method() == "" || s.Source() == "" || len(s.Categories()) != 6 {
			t.Errorf("%q is %v, %q with %d categories", id, ok, s.Name(), len(s.Categories()))
		}
	}
	if _, ok := scale.Parse(""); ok {
		t.Error("the empty text is a scale")
	}
}
