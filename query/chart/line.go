package chart

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/naqi"
)

// plotArea is the part of a page between the axes.
type plotArea struct{ left, top, right, bottom float64 }

func (p *page) area(rightMargin float64) plotArea {
	return plotArea{left: 64, top: 88, right: p.width - rightMargin, bottom: p.height - 62}
}

// drawLine draws the AQI of days or hours. A missing day or hour is a gap in the line.
func drawLine(p *page, r *Request, points []point) {
	a := p.area(116)
	most := 100
	for _, at := range points {
		most = max(most, at.AQI)
	}
	most = categoryOf(most).last
	y := func(aqi int) float64 { return a.bottom - (a.bottom-a.top)*float64(aqi)/float64(most) }
	begin, end := r.From.Start().Unix(), r.To.End().Unix()
	x := func(at int64) float64 { return a.left + (a.right-a.left)*float64(at-begin)/float64(end-begin) }
	p.bands(a, most, y)
	p.timeAxis(a, r, x)
	var run []vg.Point
	flush := func() {
		if len(run) > 1 {
			p.line(p.colours[accent], 1.75, run...)
		}
		if len(run) == 1 && len(points) > manyPoints { // with fewer points, each one gets a dot below
			p.dot(run[0].X.Points(), p.height-run[0].Y.Points(), 1.75, p.colours[accent])
		}
		run = nil
	}
	var last int64
	for _, at := range points {
		now, step := middle(at)
		if last != 0 && now-last > step {
			flush()
		}
		run, last = append(run, p.at(x(now), y(at.AQI))), now
	}
	flush()
	if len(points) > manyPoints {
		return
	}
	for _, at := range points {
		now, _ := middle(at)
		p.dot(x(now), y(at.AQI), 4, p.colours[ink])
		p.dot(x(now), y(at.AQI), 3.25, categoryOf(at.AQI).fill)
	}
}

// manyPoints is the largest number of points that are drawn as dots. The dots of more points would overlap.
const manyPoints = 62

// middle returns the Unix time at which a point is drawn, and the seconds until the next point if none is missing.
func middle(at point) (when, step int64) {
	if at.At != 0 {
		return int64(at.At), 3600
	}
	return at.Day.Start().Unix() + 43200, 86400
}

// bands draws the colours and names of the AQI categories beside the plot, and a line at each upper limit.
func (p *page) bands(a plotArea, most int, y func(int) float64) {
	low := 0
	for _, c := range categories() {
		if c.last > most {
			break
		}
		p.rectangle(a.left-8, y(c.last), 8, y(low)-y(c.last), c.fill)
		p.rectangle(a.right, y(c.last), 8, y(low)-y(c.last), c.fill)
		p.text(a.right+14, (y(low)+y(c.last))/2, 11, left, p.colours[ink], c.name)
		p.line(p.colours[grid], 0.75, p.at(a.left, y(c.last)), p.at(a.right, y(c.last)))
		p.text(a.left-13, y(c.last), 10, right, p.colours[muted], number(c.last))
		low = c.last
	}
	p.line(p.colours[muted], 1, p.at(a.left, a.bottom), p.at(a.right, a.bottom))
	p.text(a.left-13, a.bottom, 10, right, p.colours[muted], "0")
	p.text(a.left-8, a.top-12, 10, left, p.colours[muted], "AQI")
}

// timeAxis draws ticks at midnights in Indian time. A chart of hours has ticks at noon, too, if it has at most 10 days.
func (p *page) timeAxis(a plotArea, r *Request, x func(int64) float64) {
	days := int(r.To-r.From) + 1
	tick := func(at time.Time, label string) {
		p.line(p.colours[muted], 1, p.at(x(at.Unix()), a.bottom), p.at(x(at.Unix()), a.bottom+5))
		p.text(x(at.Unix()), a.bottom+14, 10, centre, p.colours[muted], label)
	}
	for d := r.From; d <= r.To; d++ {
		at := indian(d.Start())
		switch {
		case days <= 10 && r.Hourly():
			tick(at, at.Format("2 Jan"))
			tick(at.Add(12*time.Hour), "12:00")
		case days <= 10, days <= 62 && (int(d-r.From)%7 == 0):
			tick(at, at.Format("2 Jan"))
		case days > 62 && at.Day() == 1:
			layout := "Jan"
			if at.Month() == time.January || d-r.From < 31 {
				layout = "Jan 2006"
			}
			tick(at, at.Format(layout))
		}
	}
	unit := "days"
	if r.Hourly() {
		unit = "hours"
	}
	p.text(a.right, a.bottom+30, 10, right, p.colours[muted], unit+" in Indian time (IST)")
}

// seriesWords describes a series of AQI values in words, for the description of the chart.
func seriesWords(r *Request, points []point) string {
	unit, expected := "days", int(r.To-r.From)+1
	if r.Hourly() {
		unit, expected = "hours", expected*24
	}
	least, most, sum := points[0], points[0], 0
	counts := map[string]int{}
	for _, at := range points {
		if at.AQI < least.AQI {
			least = at
		}
		if at.AQI > most.AQI {
			most = at
		}
		sum += at.AQI
		counts[categoryOf(at.AQI).name]++
	}
	mean := naqi.Mean(sum, len(points))
	words := fmt.Sprintf("%d of %d %s have an AQI. Lowest %s. Highest %s. Mean %d, %s. Number of %s by category:", len(points), expected, unit,
		pointWords(least), pointWords(most), mean, categoryOf(mean).name, unit)
	var each []string
	for _, c := range categories() {
		each = append(each, fmt.Sprintf("%s %d", c.name, counts[c.name]))
	}
	return words + " " + strings.Join(each, ", ") + "."
}

func pointWords(at point) string {
	when := at.Day.String()
	if at.At != 0 {
		when = indian(aggregate.Instant(at.At)).Format("2006-01-02 15:04") + " IST"
	}
	return fmt.Sprintf("%d, %s, %s", at.AQI, categoryOf(at.AQI).name, when)
}

func number(n int) string { return strconv.Itoa(n) }

func dayOf(d schema.Day) time.Time { return indian(d.Start()) }
