// Package tiles answers GET /v1/tiles: maps of the current air in the tiles of the Web Mercator projection. Stations,
// cities and pin codes are vector tiles (Mapbox Vector Tile 2.1). The interpolated surface is a PNG of 256 pixels.
package tiles

import (
	"fmt"
	"strconv"

	"github.com/gorilla/mux"
	"github.com/paulmach/orb/maptile"

	"vayu/internal/httpapi"
	"vayu/query/param"
	"vayu/schema/geo"
	"vayu/schema/spelling"
)

// MVT is the media type of a vector tile.
const MVT = "application/vnd.mapbox-vector-tile"

// PNG is the media type of a tile of the interpolated surface.
const PNG = "image/png"

// maxZoom is the largest zoom of a tile. At this zoom, a pixel of a tile of 256 pixels is 38 m wide at the equator.
const maxZoom = 12

// pinZoom is the smallest zoom with pin codes. At this zoom, a tile has at most a few hundred pin codes.
const pinZoom = 8

// These are the layers of vector tiles.
const (
	stations = "stations"
	cities   = "cities"
	pins     = "pins"
)

// These are the quantities of the surface, as values of the parameter "show".
const (
	value       = "value"
	uncertainty = "uncertainty"
)

// These are the figures that the surface can show, as values of the parameter "parameter".
const (
	aqi  = "aqi"
	pm25 = "pm25"
)

// Params returns the names of the query parameters of the surface.
func Params() []string { return []string{"parameter", "show"} }

// Request selects a tile. [ParseLayer] and [ParseSurface] make it. It is comparable.
type Request struct {
	tile      maptile.Tile
	layer     string // "" for the surface
	parameter string // of the surface
	show      string // of the surface
}

// Vector reports whether the tile is a vector tile.
func (r *Request) Vector() bool { return r.layer != "" }

// ParseLayer parses the path of a vector tile: layer, z, x and y. The error is a *schema.Problem.
func ParseLayer(c *httpapi.Call) (r Request, err error) {
	vars := mux.Vars(c.Request)
	r.layer = vars["layer"]
	switch all := []string{stations, cities, pins}; r.layer {
	case stations, cities, pins:
		r.tile, err = parseTile(vars)
		return r, err
	default:
		return r, param.Invalid("layer", "The layer of a vector tile must be stations, cities or pins. The surface is an image (.png)."+spelling.DidYouMean(r.layer, all))
	}
}

// ParseSurface parses the path and the query parameters of a tile of the surface. The error is a *schema.Problem.
func ParseSurface(c *httpapi.Call) (r Request, err error) {
	vars, params := mux.Vars(c.Request), c.Params
	if err := param.Texts(params); err != nil {
		return r, err
	}
	r.parameter, r.show = aqi, value
	if text, ok := params["parameter"]; ok {
		if r.parameter = text; text != aqi && text != pm25 {
			return r, param.Invalid("parameter", "The surface has the parameters aqi and pm25."+spelling.DidYouMean(text, []string{aqi, pm25}))
		}
	}
	if text, ok := params["show"]; ok {
		if r.show = text; text != value && text != uncertainty {
			return r, param.Invalid("show", "The parameter show must be value or uncertainty."+spelling.DidYouMean(text, []string{value, uncertainty}))
		}
	}
	r.tile, err = parseTile(vars)
	return r, err
}

// parseTile parses z, x and y, which are whole numbers without signs and leading zeros.
func parseTile(vars map[string]string) (t maptile.Tile, err error) {
	z, err := whole("z", vars["z"], maxZoom)
	if err != nil {
		return t, err
	}
	last := uint32(1)<<z - 1
	x, err := whole("x", vars["x"], last)
	if err != nil {
		return t, err
	}
	y, err := whole("y", vars["y"], last)
	return maptile.New(x, y, maptile.Zoom(z)), err
}

func whole(name, text string, most uint32) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > uint64(most) || text != strconv.FormatUint(n, 10) {
		return 0, param.Invalid(name, fmt.Sprintf("The %s of this tile must be a whole number from 0 to %d, without leading zeros.", name, most))
	}
	return uint32(n), nil
}

// position returns the position at x and y pixels from the north-west corner of the tile.
func (r *Request) position(x, y float64) geo.Point {
	n := float64(uint32(1) << r.tile.Z)
	lon := (float64(r.tile.X)+x/pixels)/n*360 - 180
	lat := latitude((float64(r.tile.Y) + y/pixels) / n)
	return geo.Point{Latitude: lat, Longitude: lon}
}
