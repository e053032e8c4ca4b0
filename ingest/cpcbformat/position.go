package cpcbformat

import (
	"strconv"
	"strings"

	"vayu/ingest"
)

// Position parses a station's position in degrees. For a missing or invalid position it returns 0, 0. For an invalid
// position, `reason` is [ingest.BadPosition]. The position 0, 0 is invalid.
func Position(latitude, longitude string) (lat, lon float64, reason ingest.Reason) {
	latitude, longitude = strings.TrimSpace(latitude), strings.TrimSpace(longitude)
	if blank(latitude) && blank(longitude) {
		return 0, 0, ingest.None
	}
	lat, errLat := strconv.ParseFloat(latitude, 64)
	lon, errLon := strconv.ParseFloat(longitude, 64)
	if errLat != nil || errLon != nil || !(lat >= -90 && lat <= 90) || !(lon >= -180 && lon <= 180) || (lat == 0 && lon == 0) {
		return 0, 0, ingest.BadPosition
	}
	return lat, lon, ingest.None
}

func blank(text string) bool {
	return text == "" || text == "NA" || text == "-" || text == "None" || text == "null"
}
