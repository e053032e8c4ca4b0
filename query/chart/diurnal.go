package chart

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// drawDiurnal draws the mean of each hour of the day as a line. It draws the range between the quartiles of the
// hourly means as an area.
func drawDiurnal(p *page, r *Request, hours []hourMeans) {
	a := p.area(40)
	most := 0.0
	for _, h := range hours {
		most = max(most, h.top, h.mean)
	}
	step := tickStep(most)
	most = step * math.Max(1, math.Ceil(most/step))
	y := func(v float64) float64 { return a.bottom - (a.bottom-a.top)*v/most }
	x := func(hour int) float64 { return a.left + (a.right-a.left)*(float64(hour)+0.5)/24 }
	for n := 0.0; n*step <= most*(1+1e-9); n++ {
		p.line(p.colours[grid], 0.75, p.at(a.left, y(n*step)), p.at(a.right, y(n*step)))
		p.text(a.left-7, y(n*step), 10, right, p.colours[muted], strconv.FormatFloat(n*step, 'g', 4, 64))
	}
	p.line(p.colours[muted], 1, p.at(a.left, a.bottom), p.at(a.right, a.bottom))
	for hour := 0; hour < 24; hour += 3 {
		p.text(x(hour), a.bottom+14, 10, centre, p.colours[muted], fmt.Sprintf("%02d–%02d", hour, hour+1))
	}
	p.text(a.right, a.bottom+30, 10, right, p.colours[muted], "hour of the day in Indian time (IST)")
	p.text(a.left-40, a.top-12, 10, left, p.colours[muted], r.Parameter.Name()+", "+r.Parameter.Unit())
	soft := p.colours[accent]
	area := color.NRGBA{soft.R, soft.G, soft.B, 64}
	for begin := 0; begin < len(hours); {
		end := begin + 1
		for end < len(hours) && hours[end].hour == hours[end-1].hour+1 {
			end++
		}
		var upper, lower, mean []vg.Point
		for _, h := range hours[begin:end] {
			upper = append(upper, p.at(x(h.hour), y(h.top)))
			lower = append([]vg.Point{p.at(x(h.hour), y(h.low))}, lower...)
			mean = append(mean, p.at(x(h.hour), y(h.mean)))
		}
		if len(mean) > 1 {
			p.polygon(area, append(upper, lower...)...)
			p.line(p.colours[accent], 1.75, mean...)
		}
		for _, h := range hours[begin:end] {
			p.dot(x(h.hour), y(h.mean), 3, p.colours[accent])
		}
		begin = end
	}
	p.line(p.colours[accent], 1.75, p.at(a.left, a.bottom+30), p.at(a.left+18, a.bottom+30))
	p.text(a.left+24, a.bottom+30, 10, left, p.colours[ink], "mean")
	p.rectangle(a.left+66, a.bottom+24, 18, 12, area)
	p.text(a.left+90, a.bottom+30, 10, left, p.colours[ink], "middle half of the hours")
}

// tickStep returns the distance between the ticks of an axis from 0 to `most`. It is 1, 2 or 5 times a power of ten,
// so that there are four to ten steps.
func tickStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, factor := range []float64{5, 2} {
		if most/4 >= factor*power {
			return factor * power
		}
	}
	return power
}

func diurnalWords(r *Request, hours []hourMeans) string {
	least, most, n := hours[0], hours[0], 0
	for _, h := range hours {
		if h.mean < least.mean {
			least = h
		}
		if h.mean > most.mean {
			most = h
		}
		n += h.count
	}
	return fmt.Sprintf("From %d hourly means of stations. Lowest mean %.4g %s, from %02d to %02d o'clock. Highest mean %.4g %s, from %02d to %02d o'clock. %d of 24 hours of the day have data.",
		n, least.mean, r.Parameter.Unit(), least.hour, least.hour+1, most.mean, r.Parameter.Unit(), most.hour, most.hour+1, len(hours))
}
