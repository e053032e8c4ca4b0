package param

import (
	"math"
	"strconv"
	"strings"

	"vayu/query/places"
	"vayu/schema/geo"
)

// Box is an area between two meridians and two parallels, in degrees. It includes its sides.
type Box struct{ West, South, East, North float64 }

// Contains reports whether the box has a position. It returns false for an unknown position.
func (b *Box) Contains(p places.Point) bool {
	return b.West <= p.Longitude && p.Longitude <= b.East && b.South <= p.Latitude && p.Latitude <= b.North && p.Known()
}

// maxBox limits the length of the text of a bbox, in bytes.
const maxBox = 100

// ParseBox parses the parameter bbox, which is west,south,east,north in degrees, the order of GeoJSON (RFC 7946,
// section 5). The error is a *schema.Problem about the field bbox. ParseBox rejects any other form, a side beyond a
// pole or 180°, and a box over the date line. It also rejects a box in India with latitudes first.
func ParseBox(text string) (b Box, err error) {
	const form = "The bbox must be west,south,east,north in degrees, for example 76.8,28.4,77.4,28.9."
	parts := strings.Split(text, ",")
	if len(parts) != 4 || len(text) > maxBox {
		return b, Invalid("bbox", form)
	}
	var sides [4]float64
	for i, part := range parts {
		part = strings.TrimSpace(part)
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || strings.Trim(part, "-.0123456789") != "" {
			return b, Invalid("bbox", form)
		}
		sides[i] = v
	}
	b = Box{sides[0], sides[1], sides[2], sides[3]}
	switch {
	case geo.InIndia(b.West, b.South) && geo.InIndia(b.East, b.North):
		return b, Invalid("bbox", "The bbox begins with a latitude. Its order is west,south,east,north.")
	case math.Abs(b.South) > 90 || math.Abs(b.North) > 90:
		return b, Invalid("bbox", "The second and fourth number of the bbox are latitudes, between -90 and 90.")
	case math.Abs(b.West) > 180 || math.Abs(b.East) > 180:
		return b, Invalid("bbox", "The first and third number of the bbox are longitudes, between -180 and 180.")
	case b.South > b.North:
		return b, Invalid("bbox", "The bbox has its south above its north.")
	case b.West > b.East:
		return b, Invalid("bbox", "The bbox has its west beyond its east. A bbox cannot cross the date line: send two requests.")
	}
	return b, nil
}
