package tiles

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"time"

	"vayu/query/chart"
	"vayu/query/snapshot"
)

const (
	// pixels is the width and height of a tile of the surface.
	pixels = 256
	// step is the distance between two nodes, in pixels. At nodes, the surface is interpolated from stations, and
	// between nodes, it is interpolated bilinearly.
	step  = 4
	nodes = pixels/step + 1
)

// node is a position at which the surface is computed.
type node struct {
	figure float64 // NaN for none
	km     float64 // to the nearest station
}

// latitude returns the latitude of a position in the Web Mercator projection. y is 0 at the northern edge of the map,
// and 1 at its southern edge.
func latitude(y float64) float64 { return math.Atan(math.Sinh(math.Pi*(1-2*y))) * 180 / math.Pi }

// raster renders a tile of the interpolated surface as a PNG.
func (r *Request) raster(s *snapshot.Snapshot, of *errorsByDistance, now time.Time) ([]byte, error) {
	var grid [nodes][nodes]node
	for y := range grid {
		for x := range grid[y] {
			grid[y][x] = r.node(s, float64(x*step), float64(y*step), now)
		}
	}
	colours := r.palette()
	img := image.NewPaletted(image.Rect(0, 0, pixels, pixels), colours)
	for y := range pixels {
		for x := range pixels {
			if n := between(&grid, x, y); !math.IsNaN(n.figure) {
				img.Pix[y*img.Stride+x] = r.colour(n, of)
			}
		}
	}
	var body bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&body, img); err != nil {
		return nil, fmt.Errorf("rendering a tile: %w", err)
	}
	return body.Bytes(), nil
}

func (r *Request) node(s *snapshot.Snapshot, x, y float64, now time.Time) node {
	at, ok := interpolate(s, r.position(x, y), nil, now)
	switch {
	case !ok:
		return node{figure: math.NaN()}
	case r.parameter == aqi:
		return node{float64(at.aqi), at.km}
	case at.pm25.Known():
		return node{float64(at.pm25) / 100, at.km}
	}
	return node{figure: math.NaN()}
}

// between returns the bilinear mean of the four nodes around a pixel. If one of these nodes has no figure, it
// returns the node nearest to the pixel.
func between(grid *[nodes][nodes]node, x, y int) node {
	column, row := x/step, y/step
	dx, dy := (float64(x%step)+0.5)/step, (float64(y%step)+0.5)/step
	a, b, c, d := grid[row][column], grid[row][column+1], grid[row+1][column], grid[row+1][column+1]
	mean := func(a, b, c, d float64) float64 {
		return (a*(1-dx)+b*dx)*(1-dy) + (c*(1-dx)+d*dx)*dy
	}
	n := node{mean(a.figure, b.figure, c.figure, d.figure), mean(a.km, b.km, c.km, d.km)}
	if math.IsNaN(n.figure) {
		return grid[row+int(math.Round(dy))][column+int(math.Round(dx))]
	}
	return n
}

// fade has the opacity of pixels. An entry applies to pixels up to a distance of `km` from the nearest station.
var fade = [...]struct {
	km    float64
	alpha uint8
}{{snapshot.InterpolationReach, 240}, {50, 205}, {snapshot.NearestReach, 160}} //nolint:gochecknoglobals // a constant table

// bands returns the upper limits of the colours for the quantity that the tile shows. The last colour has no
// limit.
func (r *Request) bands() []float64 {
	switch {
	case r.show == uncertainty && r.parameter == aqi:
		return []float64{20, 40, 60, 80}
	case r.show == uncertainty:
		return []float64{10, 20, 40, 60}
	case r.parameter == aqi:
		return []float64{50, 100, 200, 300, 400}
	default: // the concentrations at the ends of CPCB's categories of PM2.5, µg/m³
		return []float64{30, 60, 90, 120, 250}
	}
}

// colours returns a colour for each band.
func (r *Request) colours() (all []color.RGBA) {
	if r.show == uncertainty {
		for _, grey := range []uint8{0xe8, 0xc0, 0x96, 0x6a, 0x3c} {
			all = append(all, color.RGBA{grey, grey, grey, 255})
		}
		return all
	}
	for _, index := range []int{50, 100, 200, 300, 400, 500} {
		all = append(all, chart.Colour(index))
	}
	return all
}

// palette returns the colours of the pixels: transparent, and then each band with each opacity.
func (r *Request) palette() color.Palette {
	all := color.Palette{color.NRGBA{}}
	for _, c := range r.colours() {
		for _, f := range fade {
			all = append(all, color.NRGBA{c.R, c.G, c.B, f.alpha})
		}
	}
	return all
}

// colour returns the index of a pixel's colour in the palette. An unknown uncertainty is transparent.
func (r *Request) colour(n node, of *errorsByDistance) uint8 {
	figure := n.figure
	if r.show == uncertainty {
		figure = of.at(n.km)
	}
	if math.IsNaN(figure) {
		return 0
	}
	band := 0
	for _, end := range r.bands() {
		if math.Floor(figure+0.5) > end {
			band++
		}
	}
	opacity := 0 // an uncertainty does not fade, because the dark grey of a large one would look like a small one
	for r.show != uncertainty && opacity < len(fade)-1 && n.km > fade[opacity].km {
		opacity++
	}
	return uint8(1 + band*len(fade) + opacity)
}
