package chart

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"html"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"vayu/query/aggregate"
	"vayu/query/history"
)

// Chart is a chart with all its figures, ready to be drawn.
type Chart struct {
	request *Request
	content content
	draw    func(p *page)
}

// content has the texts of a chart.
type content struct{ title, subtitle, words, attribution string }

// width is the width of every chart, in points.
const width = 900.0

// ofFigures returns a chart of AQIs: a line or a calendar. Its error is a *schema.Problem if no figures have an AQI.
func ofFigures(r *Request, place *place, figures []history.Dated) (*Chart, error) {
	var points []point
	for i := range figures {
		if f := &figures[i]; f.AQI >= 0 {
			points = append(points, point{Day: f.Day, AQI: int(f.AQI)})
			if r.Hourly() {
				points[len(points)-1].At = f.At
			}
		}
	}
	if len(points) == 0 {
		return nil, r.noData(place.Label)
	}
	c := &Chart{request: r, content: place.content(r, "AQI by day", seriesWords(r, points))}
	switch {
	case r.Kind == "calendar":
		c.content.words += monthWords(points)
		c.draw = func(p *page) { drawCalendar(p, r, points) }
		return c, nil
	case r.Hourly():
		c.content = place.content(r, "AQI by hour", seriesWords(r, points))
	}
	c.draw = func(p *page) { drawLine(p, r, points) }
	return c, nil
}

// ofMeans reads the hourly means of a place. It returns a chart of the means by hour of the day, or by wind
// direction. The error is a *schema.Problem if there are no means.
func ofMeans(ctx context.Context, t aggregate.Tables, r *Request, place *place) (*Chart, error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	if r.Kind == "rose" {
		all, err := readRose(ctx, t, place, r)
		if err != nil {
			return nil, aggregate.Unavailable(err)
		}
		if len(all) == 0 {
			return nil, r.noMeans(place.Label)
		}
		return &Chart{r, place.content(r, r.Parameter.Name()+" by wind direction", roseWords(r, all)), func(p *page) { drawRose(p, r, all) }}, nil
	}
	hours, err := readDiurnal(ctx, t, place, r)
	if err != nil {
		return nil, aggregate.Unavailable(err)
	}
	if len(hours) == 0 {
		return nil, r.noMeans(place.Label)
	}
	return &Chart{r, place.content(r, r.Parameter.Name()+" by hour of the day", diurnalWords(r, hours)), func(p *page) { drawDiurnal(p, r, hours) }}, nil
}

func (p *place) content(r *Request, what, words string) content {
	first, _, _ := strings.Cut(words, ". ")
	return content{
		title: p.Label + ": " + what, subtitle: r.span() + ". " + strings.TrimSuffix(first, ".") + ".", words: words,
		attribution: strings.Join(p.Attribution, "; "),
	}
}

func (c *Chart) height() float64 {
	switch c.request.Kind {
	case "calendar":
		return calendarHeight(c.request)
	case "rose":
		return 500
	}
	return 430
}

func (c *Chart) drawOn(canvas vg.Canvas, fonts *font.Cache) {
	p := &page{Canvas: canvas, width: width, height: c.height(), colours: themes(c.request.Theme), fonts: fonts}
	p.header(&c.content)
	c.draw(p)
}

// loadFonts loads the fonts of charts, which takes some milliseconds. The result is safe for concurrent use.
func loadFonts() *font.Cache { return font.NewCache(liberation.Collection()) }

// png returns the chart as a PNG with two pixels per point. The PNG contains the title and the description as text.
func (c *Chart) png(fonts *font.Cache) ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(width), vg.Length(c.height())), vgimg.UseDPI(2*72), vgimg.UseBackgroundColor(color.Transparent))
	c.drawOn(canvas, fonts)
	var out bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&out); err != nil {
		return nil, fmt.Errorf("writing a picture: %w", err)
	}
	return c.withText(out.Bytes()), nil
}

// withText returns a copy of a PNG with the title and the description of the chart as text chunks.
func (c *Chart) withText(picture []byte) []byte {
	const header = 8 + 25 // signature, and the chunk IHDR, which must be first
	out := slices.Clone(picture[:header])
	for _, text := range [...]struct{ keyword, text string }{{"Title", c.title()}, {"Description", c.description()}} {
		// The chunk iTXt (PNG, second edition, 11.3.4.5) holds uncompressed UTF-8 without a language.
		chunk := []byte("iTXt" + text.keyword + "\x00\x00\x00\x00\x00" + text.text)
		out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-4))
		out = binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
	}
	return append(out, picture[header:]...)
}

// svg returns the chart as an SVG with a title and a description in words. If the request names no theme, the browser
// selects light or dark colours by the user's preference.
func (c *Chart) svg(fonts *font.Cache) ([]byte, error) {
	canvas := vgsvg.NewWith(vgsvg.UseWH(vg.Length(width), vg.Length(c.height())))
	c.drawOn(canvas, fonts)
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("writing a drawing: %w", err)
	}
	_, drawing, _ := strings.Cut(out.String(), "<svg")
	_, drawing, _ = strings.Cut(drawing, ">")
	drawing = strings.ReplaceAll(drawing, "\n\t", " ")
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]g" height="%[2]g" viewBox="0 0 %[1]g %[2]g" role="img" aria-labelledby="title-%[7]s desc-%[7]s">
<title id="title-%[7]s">%[3]s</title>
<desc id="desc-%[7]s">%[4]s</desc>
<style>%[5]s</style>%[6]s`, width, c.height(), html.EscapeString(c.title()), html.EscapeString(c.description()), c.style(), drawing, c.id())
	return []byte(b.String()), nil
}

func (c *Chart) title() string { return c.content.title + ", " + c.request.span() }

// description returns a text that describes the chart, for people who cannot see it.
func (c *Chart) description() string {
	return c.content.words + " Data: " + c.content.attribution + "."
}

// id returns an identifier that differs between charts. It makes the ids of elements unique if a page has several
// charts.
func (c *Chart) id() string {
	sum := sha256.Sum256([]byte(c.request.Kind + c.title() + c.description()))
	return hex.EncodeToString(sum[:6])
}

// style returns the CSS rules for the fonts of the texts. If the request names no theme, it adds rules that replace
// each light colour by the dark one. Programs that ignore these rules show the light theme.
func (c *Chart) style() string {
	style := `text{font-family:"Liberation Sans",Arial,Helvetica,sans-serif!important}`
	if c.request.Theme != "" {
		return style
	}
	style += "@media (prefers-color-scheme:dark){"
	light, dark := themes("light"), themes("dark")
	for i := range light {
		for _, property := range []string{"fill", "stroke"} {
			style += fmt.Sprintf(`[style*="%[1]s:%[2]s"]{%[1]s:%[3]s!important}`, property, hexadecimal(light[i]), hexadecimal(dark[i]))
		}
	}
	return style + "}"
}

func hexadecimal(c color.RGBA) string { return fmt.Sprintf("#%.2X%.2X%.2X", c.R, c.G, c.B) }
