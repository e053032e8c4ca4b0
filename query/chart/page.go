package chart

import (
	"fmt"
	"image/color"
	"math"
	"time"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"vayu/schema"
	"vayu/schema/naqi"
)

// role is the purpose of a colour. Each theme has one colour for each role.
type role int

const (
	paper role = iota // background
	ink               // text
	muted             // secondary text
	grid
	accent // lines of data
)

type theme [accent + 1]color.RGBA

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255}
}

// themes returns the colours of a theme, which are those of the dashboard (style/tokens.css).
func themes(name string) theme {
	if name == "dark" {
		return theme{rgb(0x191f26), rgb(0xe9eef3), rgb(0xa9b6c3), rgb(0x36404b), rgb(0x6db5f2)}
	}
	return theme{rgb(0xffffff), rgb(0x15202b), rgb(0x4d5a68), rgb(0xd3d9e0), rgb(0x0b5fa5)}
}

// category is one of the six categories of the AQI. Its colours are the same in both themes. No role may have one of
// these colours. Otherwise the rules of [Chart.style], which replace the light colours, would change the category.
type category struct {
	name        string
	first, last int // AQI
	fill, text  color.RGBA
}

func categories() []category {
	all := []category{
		{last: 50, fill: rgb(0x4db6ac), text: rgb(0x06231f)},
		{last: 100, fill: rgb(0xa8d46f), text: rgb(0x1b2b05)},
		{last: 200, fill: rgb(0xffdf4d), text: rgb(0x302800)},
		{last: 300, fill: rgb(0xf79a3e), text: rgb(0x331a00)},
		{last: 400, fill: rgb(0xc62f2b), text: rgb(0xfffffe)},
		{last: naqi.MaxIndex, fill: rgb(0x5c0f26), text: rgb(0xfffffe)},
	}
	for i := range all {
		all[i].name = naqi.Category(all[i].last)
	}
	for i, c := range all[:len(all)-1] {
		all[i+1].first = c.last + 1
	}
	return all
}

// Colour returns the colour of the category of an AQI, in both themes.
func Colour(aqi int) color.RGBA { return categoryOf(aqi).fill }

func categoryOf(aqi int) category {
	for _, c := range categories() {
		if aqi <= c.last {
			return c
		}
	}
	return categories()[len(categories())-1]
}

// page is a canvas whose origin is at the top left. Lengths are in points.
type page struct {
	vg.Canvas

	width, height float64
	colours       theme
	fonts         *font.Cache
}

func (p *page) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(p.height - y)}
}

func (p *page) rectangle(x, y, width, height float64, fill color.Color) {
	p.polygon(fill, p.at(x, y), p.at(x+width, y), p.at(x+width, y+height), p.at(x, y+height))
}

func (p *page) frame(x, y, width, height float64, stroke color.Color) {
	p.line(stroke, 0.75, p.at(x, y), p.at(x+width, y), p.at(x+width, y+height), p.at(x, y+height), p.at(x, y))
}

func (p *page) polygon(fill color.Color, points ...vg.Point) {
	p.SetColor(fill)
	p.Fill(path(points))
}

func (p *page) line(stroke color.Color, width float64, points ...vg.Point) {
	p.SetColor(stroke)
	p.SetLineWidth(vg.Length(width))
	p.Stroke(path(points))
}

func path(points []vg.Point) (all vg.Path) {
	for i, at := range points {
		if i == 0 {
			all.Move(at)
		} else {
			all.Line(at)
		}
	}
	return all
}

func (p *page) dot(x, y, radius float64, fill color.Color) {
	var circle vg.Path
	circle.Move(p.at(x+radius, y))
	circle.Arc(p.at(x, y), vg.Length(radius), 0, 2*math.Pi)
	circle.Close()
	p.SetColor(fill)
	p.Fill(circle)
}

// align is the fraction of a text's width that is to the left of the given position.
type align float64

const (
	left   align = 0
	centre align = 0.5
	right  align = 1
)

// text writes s, vertically centred at y.
func (p *page) text(x, y, size float64, where align, fill color.Color, s string) {
	face := p.face(size, plain)
	p.SetColor(fill)
	p.FillString(face, p.at(x-float64(where)*face.Width(s).Points(), y+0.36*size), s)
}

func (p *page) title(x, y float64, s string) {
	face := p.face(17, bold)
	p.SetColor(p.colours[ink])
	p.FillString(face, p.at(x, y+6), s)
}

type weight bool

const (
	plain weight = false
	bold  weight = true
)

func (p *page) face(size float64, w weight) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)}
	if w == bold {
		f.Weight = 2 // golang.org/x/image/font.WeightBold
	}
	return p.fonts.Lookup(f, f.Size)
}

// header writes the title and the subtitle at the top, and the attribution at the bottom.
func (p *page) header(c *content) {
	p.rectangle(0, 0, p.width, p.height, p.colours[paper])
	p.title(24, 28, c.title)
	p.text(24, 51, 11, left, p.colours[muted], c.subtitle)
	p.text(24, p.height-14, 9, left, p.colours[muted], p.cut("Data: "+c.attribution, 9, p.width-48))
}

// cut shortens a text so that it fits into a width.
func (p *page) cut(s string, size, width float64) string {
	face := p.face(size, plain)
	if face.Width(s).Points() <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && face.Width(string(runes)+"…").Points() > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// legend writes the categories with their colours.
func (p *page) legend(x, y float64) {
	for _, c := range categories() {
		p.rectangle(x, y-6, 12, 12, c.fill)
		label := c.name + " " + number(c.first) + "–" + number(c.last)
		p.text(x+17, y, 10, left, p.colours[ink], label)
		face := p.face(10, plain)
		x += 17 + face.Width(label).Points() + 16
	}
}

// indian converts a time to Indian Standard Time, the time zone of the charts' axes.
func indian(t time.Time) time.Time {
	return t.In(time.FixedZone("IST", int(schema.IndiaOffset/time.Second)))
}

// Hex returns the colours of the category of an AQI, and of text on it, in the form #rrggbb.
func Hex(aqi int) (fill, text string) {
	hex := func(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
	c := categoryOf(aqi)
	return hex(c.fill), hex(c.text)
}
