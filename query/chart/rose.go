package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"

	"vayu/schema/air"
	"vayu/schema/naqi"
	"vayu/schema/parameter"
)

func sectorName(sector int) string {
	return [sectors]string{"N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW"}[sector]
}

// drawRose draws a wedge for each direction from which the wind came, and a table of the values. The length of a wedge
// is the share of hours. Its colour is the category of the mean concentration in those hours.
func drawRose(p *page, r *Request, all []sectorMeans) {
	total, most := 0, 0.0
	for _, s := range all {
		total += s.count
	}
	share := func(s sectorMeans) float64 { return float64(s.count) / float64(total) }
	for _, s := range all {
		if s.sector >= 0 {
			most = max(most, share(s))
		}
	}
	ring := 0.02 // distance between two rings, as a share of the hours
	for ring*5 < most {
		ring *= 2
	}
	x0, y0, radius := 250.0, 268.0, 165.0
	full := math.Max(ring, math.Ceil(most/ring)*ring)
	for level := ring; level <= full+1e-9; level += ring {
		p.circle(x0, y0, radius*level/full)
	}
	table := 104.0
	p.text(500, table-20, 10, left, p.colours[muted], "wind from")
	p.text(640, table-20, 10, right, p.colours[muted], "hours")
	p.text(820, table-20, 10, right, p.colours[muted], "mean of "+r.Parameter.Name()+", "+r.Parameter.Unit())
	for _, s := range all {
		name := "calm, below 0.5 m/s"
		if s.sector >= 0 {
			name = sectorName(s.sector)
			p.wedge(x0, y0, radius*share(s)/full, s, colourOf(r, s.mean))
		}
		p.rectangle(484, table-5, 10, 10, colourOf(r, s.mean).fill)
		p.text(500, table, 10, left, p.colours[ink], name)
		p.text(640, table, 10, right, p.colours[ink], fmt.Sprintf("%.1f %%", 100*share(s)))
		p.text(820, table, 10, right, p.colours[ink], fmt.Sprintf("%.4g, %s", s.mean, colourOf(r, s.mean).name))
		table += 20
	}
	for level := ring; level <= full+1e-9; level += ring {
		y := y0 - radius*level/full
		p.rectangle(x0+3, y-7, 28, 14, p.colours[paper])
		p.text(x0+6, y, 9, left, p.colours[muted], fmt.Sprintf("%.0f %%", 100*level))
	}
	for i, name := range []string{"N", "E", "S", "W"} {
		angle := float64(i) * math.Pi / 2
		p.text(x0+(radius+16)*math.Sin(angle), y0-(radius+16)*math.Cos(angle), 12, centre, p.colours[ink], name)
	}
	p.text(24, p.height-34, 10, left, p.colours[muted], "Length: share of the hours. Colour: category of "+indexHours(r)+" hours with that mean.")
}

// indexHours returns the averaging interval, in hours, of the means from which the sub-index of the parameter is
// computed.
func indexHours(r *Request) string {
	if r.Parameter == parameter.CO || r.Parameter == parameter.O3 {
		return "8"
	}
	return "24"
}

// colourOf returns the category for a mean concentration over [indexHours] hours.
func colourOf(r *Request, mean float64) category {
	index, _ := naqi.SubIndex(air.Pollutant(r.Parameter), mean)
	return categoryOf(index)
}

func (p *page) circle(x, y, radius float64) {
	var around vg.Path
	around.Move(p.at(x+radius, y))
	around.Arc(p.at(x, y), vg.Length(radius), 0, 2*math.Pi)
	p.SetColor(p.colours[grid])
	p.SetLineWidth(0.75)
	p.Stroke(around)
}

// wedge draws a sector of a rose. The wedge is narrower than the sector's 22.5 degrees, so that there are gaps between
// wedges.
func (p *page) wedge(x, y, radius float64, s sectorMeans, c category) {
	const width = 2 * math.Pi / sectors * 0.86
	middle := math.Pi/2 - float64(s.sector)*2*math.Pi/sectors
	var shape vg.Path
	shape.Move(p.at(x, y))
	shape.Line(p.at(x+radius*math.Cos(middle-width/2), y-radius*math.Sin(middle-width/2)))
	shape.Arc(p.at(x, y), vg.Length(radius), middle-width/2, width)
	shape.Close()
	p.SetColor(c.fill)
	p.Fill(shape)
	p.SetColor(p.colours[muted])
	p.SetLineWidth(0.5)
	p.Stroke(shape)
}

func roseWords(r *Request, all []sectorMeans) string {
	total, words := 0, ""
	for _, s := range all {
		total += s.count
	}
	for _, s := range all {
		name := "calm"
		if s.sector >= 0 {
			name = "from " + sectorName(s.sector)
		}
		words += fmt.Sprintf(" %s %.1f %% of the hours, mean %.4g %s.", name, 100*float64(s.count)/float64(total), s.mean, r.Parameter.Unit())
	}
	return fmt.Sprintf("From %d hours with wind and %s.%s", total, r.Parameter.Name(), words)
}
