package chart

import (
	"time"

	"vayu/schema"
)

// cellWidth and cellHeight are the size of the cell of a day in a calendar, in points.
const (
	cellWidth  = 25.0
	cellHeight = 22.0
)

// months returns the number of calendar months that a range overlaps.
func months(r *Request) int {
	from, to := dayOf(r.From), dayOf(r.To)
	return (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month()) + 1
}

// drawCalendar draws a row of cells for each month, one cell for each day. A cell shows the AQI as a number, on the
// colour of its category. The cell of a day without an AQI is an empty frame.
func drawCalendar(p *page, r *Request, points []point) {
	const x0, y0 = 96.0, 88.0
	aqi := map[schema.Day]int{}
	for _, at := range points {
		aqi[at.Day] = at.AQI
	}
	for day := 1; day <= 31; day++ {
		p.text(x0+(float64(day)-0.5)*cellWidth, y0-9, 9, centre, p.colours[muted], number(day))
	}
	first := dayOf(r.From)
	for d := r.From; d <= r.To; d++ {
		at := dayOf(d)
		row := float64((at.Year()-first.Year())*12 + int(at.Month()) - int(first.Month()))
		x, y := x0+float64(at.Day()-1)*cellWidth, y0+row*cellHeight
		if d == r.From || at.Day() == 1 {
			p.text(x0-8, y+cellHeight/2, 10, right, p.colours[ink], at.Format("Jan 2006"))
		}
		value, known := aqi[d]
		if !known {
			p.frame(x+1.5, y+1.5, cellWidth-3, cellHeight-3, p.colours[muted])
			continue
		}
		c := categoryOf(value)
		p.rectangle(x+1, y+1, cellWidth-2, cellHeight-2, c.fill)
		p.text(x+cellWidth/2, y+cellHeight/2, 9, centre, c.text, number(value))
	}
	bottom := y0 + float64(months(r))*cellHeight + 18
	p.legend(x0, bottom)
	p.frame(x0, bottom+14, 12, 12, p.colours[muted])
	p.text(x0+17, bottom+20, 10, left, p.colours[ink], "no figures")
	p.text(p.width-24, bottom+20, 10, right, p.colours[muted], "days in Indian time (IST)")
}

// calendarHeight returns the height of a calendar in points.
func calendarHeight(r *Request) float64 { return 88 + float64(months(r))*cellHeight + 78 }

// monthWords describes the months of a calendar in words, for the description of the chart.
func monthWords(points []point) string {
	words, sum, n := "", 0, 0
	var current time.Time
	flush := func() {
		if n > 0 {
			words += " " + current.Format("Jan 2006") + ": mean " + number((2*sum+n)/(2*n)) + " on " + number(n) + " days."
		}
		sum, n = 0, 0
	}
	for _, at := range points {
		if day := dayOf(at.Day); day.Month() != current.Month() || day.Year() != current.Year() {
			flush()
			current = day
		}
		sum, n = sum+at.AQI, n+1
	}
	flush()
	return words
}
