package public

import (
	"fmt"
	"html"
	"strings"
	"time"
	"unicode/utf8"

	"vayu/internal/httpapi"
	"vayu/query/chart"
	"vayu/schema/naqi"
)

// badge answers with an image of one line, with the AQI of a city in the colour of its category.
func (e *edge) badge(r *request) (resp httpapi.Response, at uint32, err error) {
	i, err := r.cityOf()
	if err != nil {
		return resp, 0, err
	}
	resp, err = e.answers.Get(r.snap, r.now, "badge "+r.snap.Index.Label(i), func() (httpapi.Response, error) {
		c := &r.snap.Cities[i]
		label := r.snap.Index.Label(i) + " AQI"
		text, fill, ink := "no current data", "#555555", "#ffffff"
		if c.AQI >= 0 && !c.Stale(r.now) {
			text = fmt.Sprintf("%d %s", c.AQI, naqi.Category(int(c.AQI)))
			fill, ink = chart.Hex(int(c.AQI))
		}
		return svgResponse(drawBadge(label, text, fill, ink)), nil
	})
	return resp, r.snap.Cities[i].At, err
}

// svgResponse returns a reply with an SVG image.
func svgResponse(body string) httpapi.Response {
	resp := httpapi.Ready([]byte(body), time.Time{})
	resp.Type = []string{svgType}
	return resp
}

// These are the sizes of a badge in pixels. Fonts have different glyph widths, so the SVG attribute textLength fits
// each text to the width that drawBadge computes for it.
const (
	badgeHeight = 20
	badgeGlyph  = 6.6 // mean width of a glyph of 11 px Verdana
	badgeMargin = 6
)

// drawBadge returns a badge in the form that shields.io made common: a label on grey and a text on its colour.
func drawBadge(label, text, fill, ink string) string {
	left, right := badgeWidth(label), badgeWidth(text)
	title := html.EscapeString(label + ": " + text)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`,
		left+right, badgeHeight, title)
	fmt.Fprintf(&b, `<title>%s</title><rect width="%d" height="%d" fill="#333333"/>`, title, left, badgeHeight)
	fmt.Fprintf(&b, `<rect x="%d" width="%d" height="%d" fill="%s"/>`, left, right, badgeHeight, fill)
	b.WriteString(`<g font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">`)
	write := func(x, width int, ink, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="14" textLength="%d" lengthAdjust="spacingAndGlyphs" fill="%s">%s</text>`,
			x+width/2, width-2*badgeMargin, ink, html.EscapeString(s))
	}
	write(0, left, "#ffffff", label)
	write(left, right, ink, text)
	b.WriteString("</g></svg>")
	return b.String()
}

func badgeWidth(s string) int {
	return 2*badgeMargin + int(badgeGlyph*float64(utf8.RuneCountInString(s)))
}
