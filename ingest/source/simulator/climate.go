package simulator

import (
	_ "embed" // cities.csv
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"vayu/schema"
	"vayu/schema/air"
)

//go:embed cities.csv
var citiesCSV string

// city is a line of cities.csv. Its levels are invented, but as large as the annual means in CPCB's bulletins and data.
type city struct {
	name, state, label  string // label distinguishes cities of the same name
	latitude, longitude float64
	stations            int
	climate             climate
	level               [air.Pb + 1]float64
	seed                uint64
}

// climate is the seasonal course of a region's air quality.
type climate struct {
	particles [12]float64 // factor of each month, January first; their mean is about 1
	coarse    float64     // ratio of PM10 to PM2.5
	ozone     float64     // annual mean, µg/m³
	ammonia   float64     // annual mean, µg/m³
}

// climates maps the regions in cities.csv to their climates. On the northern plain, cold and still winters have four
// times the particles of the monsoon. On the coasts, wind and rain clean the air.
var climates = map[string]climate{
	"plain":  {[12]float64{1.75, 1.25, 0.85, 0.80, 0.85, 0.70, 0.42, 0.38, 0.48, 1.10, 1.85, 1.75}, 2.0, 34, 38},
	"east":   {[12]float64{1.75, 1.45, 1.00, 0.72, 0.62, 0.55, 0.45, 0.45, 0.52, 0.90, 1.55, 1.85}, 1.9, 32, 22},
	"west":   {[12]float64{1.35, 1.15, 0.98, 1.00, 1.05, 0.90, 0.55, 0.48, 0.62, 1.08, 1.45, 1.40}, 2.2, 36, 22},
	"centre": {[12]float64{1.45, 1.25, 1.05, 0.98, 0.92, 0.65, 0.42, 0.40, 0.55, 1.05, 1.55, 1.60}, 2.0, 34, 20},
	"south":  {[12]float64{1.40, 1.30, 1.20, 1.00, 0.85, 0.62, 0.55, 0.58, 0.70, 0.95, 1.25, 1.45}, 2.0, 30, 16},
	"coast":  {[12]float64{1.55, 1.35, 1.15, 0.85, 0.70, 0.58, 0.50, 0.52, 0.65, 0.98, 1.40, 1.60}, 2.2, 28, 14},
	"hill":   {[12]float64{1.45, 1.20, 1.00, 0.95, 0.90, 0.72, 0.55, 0.52, 0.65, 0.95, 1.35, 1.55}, 1.8, 42, 8},
}

// cities parses cities.csv on the first call. It ignores errors, because a test checks the table.
var cities = sync.OnceValue(func() []city {
	var out []city
	seen := make(map[string]int)
	for line := range strings.Lines(citiesCSV) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if strings.HasPrefix(line, "#") || len(f) < 10 {
			continue
		}
		number := func(i int) float64 { x, _ := strconv.ParseFloat(f[i], 64); return x }
		c := city{name: f[0], state: f[1], label: f[0], latitude: number(2), longitude: number(3), stations: int(number(4)),
			climate: climates[f[5]], seed: hashText(f[0] + f[1])}
		c.level = [...]float64{
			air.PM25: number(6), air.PM10: number(6) * c.climate.coarse, air.NO2: number(7), air.SO2: number(8),
			air.CO: number(9), air.O3: c.climate.ozone, air.NH3: c.climate.ammonia, air.Pb: 0,
		}
		if other, twice := seen[c.name]; twice {
			out[other].label = c.name + " (" + out[other].state + ")"
			c.label = c.name + " (" + c.state + ")"
		}
		seen[c.name] = len(out)
		out = append(out, c)
	}
	return out
})

// Factors for each hour of the day. For most pollutants, traffic and a shallow layer of air cause a peak in the morning
// and a higher one in the evening. Ozone follows the sunlight.
var (
	traffic = [24]float64{1.08, 1.00, 0.94, 0.90, 0.90, 0.95, 1.08, 1.25, 1.36, 1.32, 1.12, 0.90, 0.75, 0.66, 0.62, 0.64, 0.74, 0.92, 1.16, 1.34, 1.40, 1.36, 1.27, 1.17}
	sun     = [24]float64{0.55, 0.52, 0.50, 0.48, 0.46, 0.45, 0.48, 0.58, 0.78, 1.05, 1.35, 1.65, 1.85, 1.95, 1.95, 1.80, 1.50, 1.18, 0.92, 0.78, 0.70, 0.65, 0.60, 0.57}
)

// curve returns the city's concentration of a pollutant in each hour.
func (c *city) curve(p air.Pollutant, hours []hour) []float64 {
	out := make([]float64, len(hours))
	for i := range hours {
		h := &hours[i]
		v := c.level[p] * c.weather(h) * diurnal(p, h) * season(c.climate, p, h.year)
		if p == air.PM25 || p == air.PM10 {
			v *= h.smoke
		}
		out[i] = v
	}
	return out
}

func diurnal(p air.Pollutant, h *hour) float64 {
	if p == air.O3 {
		return sun[h.of]
	}
	shape := traffic[h.of]
	if p == air.SO2 || p == air.NH3 { // chimneys and fields have no rush hour
		shape = 1 + (shape-1)*0.4
	} else if h.weekend {
		shape *= 0.9
	}
	return shape
}

// season returns the factor for a time of the year, in months from January. It interpolates the climate's monthly
// factors between the middles of months. Gases vary less than particles, and ozone has its maximum before the monsoon.
func season(c climate, p air.Pollutant, year float64) float64 {
	at := year - 0.5 + 12
	month, part := int(at)%12, at-math.Floor(at)
	factor := c.particles[month]*(1-part) + c.particles[(month+1)%12]*part
	switch p {
	case air.PM25, air.PM10:
		return factor
	case air.O3:
		return 1 + 0.35*math.Cos((year-4.5)/12*2*math.Pi) // maximum in mid-May
	}
	return 1 + (factor-1)*0.4
}

// weather returns the factor by which the weather of the day changes the city's concentrations. It is between 0.65 and
// 1.35, and changes smoothly from day to day.
func (c *city) weather(h *hour) float64 {
	of := func(day int64) float64 { return 0.65 + 0.7*unit(mix(c.seed^uint64(day)*0x9e3779b97f4a7c15)) }
	part := float64(h.of) / 24
	part = part * part * (3 - 2*part)
	return of(h.day)*(1-part) + of(h.day+1)*part
}

// diwali maps a year to the day of Diwali. The fireworks are in the evening of that day. The source is the Government
// of India's lists of holidays.
var diwali = map[int]time.Time{
	2023: time.Date(2023, 11, 12, 0, 0, 0, 0, schema.India), 2024: time.Date(2024, 10, 31, 0, 0, 0, 0, schema.India),
	2025: time.Date(2025, 10, 20, 0, 0, 0, 0, schema.India), 2026: time.Date(2026, 11, 8, 0, 0, 0, 0, schema.India),
}

// fireworksFactor returns the factor by which fireworks raise particle concentrations. At Diwali it is 2.5 from 19:00
// to 02:00, and then falls to 1 within twenty hours. Otherwise it is 1.
func fireworksFactor(begin time.Time) float64 {
	evening, known := diwali[begin.Year()]
	if !known {
		return 1
	}
	since := begin.Sub(evening.Add(19 * time.Hour)).Hours()
	switch {
	case since < 0 || since > 27:
		return 1
	case since <= 7:
		return 2.5
	}
	return 1 + 1.5*(27-since)/20
}
