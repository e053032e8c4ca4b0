package air

// FeatureCollection is one page of a list as GeoJSON (RFC 7946). HasMore and NextCursor are foreign members with the
// meaning that they have in [schema.List].
type FeatureCollection struct {
	Type       string    `json:"type"` // always FeatureCollection
	Features   []Feature `json:"features"`
	HasMore    bool      `json:"has_more"`
	NextCursor *string   `json:"next_cursor"`
}

// Feature is an entry of a list as GeoJSON.
type Feature struct {
	Type       string `json:"type"` // always Feature
	ID         string `json:"id"`
	Geometry   *Point `json:"geometry"`   // nil if the position is unknown
	Properties any    `json:"properties"` // the entry
}

// Point is a position as GeoJSON.
type Point struct {
	Type        string     `json:"type"`        // always Point
	Coordinates [2]float64 `json:"coordinates"` // longitude and latitude in degrees (WGS 84)
}
