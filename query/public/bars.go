package public

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/chart"
	"vayu/query/param"
	"vayu/schema"
	"vayu/schema/naqi"
)

// bars answers with a chart of the last hours of a city: a bar for each hour, in the colour of its category.
func (e *edge) bars(r *request) (resp httpapi.Response, at uint32, err error) {
	i, err := r.cityOf()
	if err != nil {
		return resp, 0, err
	}
	days := 1
	switch text, given := r.Params["days"]; {
	case text == "7":
		days = 7
	case given && text != "1":
		return resp, 0, param.Invalid("days", "The days must be 1 or 7.")
	}
	c := &r.snap.Cities[i]
	label := r.snap.Index.Label(i)
	resp, err = e.answers.Get(r.snap, r.now, fmt.Sprintf("chart %d %s", days, label), func() (resp httpapi.Response, err error) {
		found, err := e.hours(r, i, days*dayHours)
		switch {
		case err != nil:
			return resp, err
		case len(found) == 0:
			return resp, schema.NewProblem(schema.NoData, "city", "There are no hours with an AQI for "+label+" yet.")
		}
		return svgResponse(drawBars(label, aggregate.Instant(c.At), days, found)), nil
	})
	return resp, c.At, err
}

// Sizes of a chart in pixels, and its font and colours. Text of 15 or 16 pixels is readable at a phone's width, too.
const (
	barsWidth, barsHeight        = 480, 210
	barsLeft, barsRight          = 42, 452 // leaves room for half a date, whose middle is at the last hour
	barsTop, barsBottom          = 54, 178
	barsFont                     = "Verdana,Geneva,DejaVu Sans,sans-serif"
	barsInk, barsMuted, barsGrid = "#15202b", "#4d5a68", "#d3d9e0"
	barsBackground               = "#ffffff"
)

// drawBars returns a chart of the hours until `end`. An hour without an AQI is a gap.
func drawBars(label string, end time.Time, days int, all []hour) string {
	begin := end.Add(-time.Duration(days*dayHours) * time.Hour)
	slot := float64(barsRight-barsLeft) / float64(days*dayHours)
	x := func(at time.Time) float64 { return barsLeft + at.Sub(begin).Hours()*slot }
	most := 100
	for _, h := range all {
		most = max(most, h.AQI)
	}
	most, _ = naqi.Edge(naqi.Category(most))
	y := func(aqi int) float64 { return barsBottom - float64((barsBottom-barsTop)*aqi)/float64(most) }
	title := html.EscapeString(fmt.Sprintf("AQI of %s, %s", label, period(days)))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="t d">`,
		barsWidth, barsHeight)
	fmt.Fprintf(&b, `<title id="t">%s</title><desc id="d">%s</desc>`, title, html.EscapeString(describe(all)))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="%s"/><g font-family="%s" font-size="15" fill="%s">`, barsWidth, barsHeight, barsBackground, barsFont, barsMuted)
	fmt.Fprintf(&b, `<text x="%d" y="20" font-size="16" fill="%s">%s</text>`, 8, barsInk, title)
	for _, aqi := range []int{0, most / 2, most} {
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="%s"/><text x="%d" y="%.1f" text-anchor="end">%d</text>`,
			barsLeft, y(aqi), barsRight, barsGrid, barsLeft-4, y(aqi)+5, aqi)
	}
	for _, h := range all {
		fill, _ := chart.Hex(h.AQI)
		fmt.Fprintf(&b, `<rect x="%.2f" y="%.1f" width="%.2f" height="%.1f" fill="%s" stroke="%s" stroke-width="0.3"/>`,
			x(h.Hour.Add(-time.Hour)), y(h.AQI), slot, barsBottom-y(h.AQI), fill, barsMuted)
	}
	for at := range ticks(begin, end, days) {
		fmt.Fprintf(&b, `<path d="M%.1f %dv4" stroke="%s"/><text x="%[1]f" y="%[4]d" text-anchor="middle">%[5]s</text>`,
			x(at), barsBottom, barsMuted, barsBottom+20, tickLabel(at, days))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s IST</text></g></svg>`, 8, 40, end.In(schema.India).Format("until 2 Jan 2006 15:04"))
	return b.String()
}

func period(days int) string {
	if days == 1 {
		return "last 24 hours"
	}
	return fmt.Sprintf("last %d days", days)
}

// ticks yields the times that have a label: every sixth hour in a chart of one day, otherwise every midnight.
func ticks(begin, end time.Time, days int) func(yield func(time.Time) bool) {
	step := 6 * time.Hour
	if days > 1 {
		step = dayHours * time.Hour
	}
	return func(yield func(time.Time) bool) {
		for at := schema.DayOf(begin).Start(); !at.After(end); at = at.Add(step) {
			if !at.Before(begin) && !yield(at) {
				return
			}
		}
	}
}

func tickLabel(at time.Time, days int) string {
	at = at.In(schema.India)
	if days > 1 {
		return at.Format("2 Jan")
	}
	return at.Format("15:04")
}

// describe describes hours in words, for readers who do not see the chart.
func describe(all []hour) string {
	compare := func(a, b hour) int { return a.AQI - b.AQI }
	least, most, last := slices.MinFunc(all, compare), slices.MaxFunc(all, compare), all[len(all)-1]
	words := func(h hour) string {
		return fmt.Sprintf("%d, %s, %s IST", h.AQI, h.Category, h.Hour.In(schema.India).Format("2 Jan 15:04"))
	}
	return fmt.Sprintf("%d hours have an AQI. Last: %s. Lowest: %s. Highest: %s.", len(all), words(last), words(least), words(most))
}
