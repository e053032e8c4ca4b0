package station

import (
	"encoding/json"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/param"
	"vayu/schema"
	"vayu/schema/air"
)

// GeoJSON is the media type of a page as GeoJSON (RFC 7946).
const GeoJSON = "application/geo+json"

// wantsGeoJSON reports whether the parameter "format" requests GeoJSON. The Accept header has no effect, so that a
// URL has one form in every cache. But without "format", a header that allows only GeoJSON causes a *schema.Problem.
func wantsGeoJSON(c *httpapi.Call) (bool, error) {
	switch text, ok := c.Params["format"]; {
	case text == "geojson":
		return true, nil
	case ok && text != "json":
		return false, param.Invalid("format", "The format must be json or geojson.")
	}
	if c.Wants(GeoJSON) && !c.Wants("application/json") && !c.Wants("application/*") && !c.Wants("*/*") {
		return false, schema.NewProblem(schema.NotAcceptable, "Accept", "Send format=geojson for "+GeoJSON+".")
	}
	return false, nil
}

// StationPage returns one page of stations in the format that a call requests, with an ETag. The error is a
// *schema.Problem if the call requests another format.
func StationPage(c *httpapi.Call, list schema.List[air.StationEntry]) (httpapi.Response, error) {
	return page(c, list, func(e *air.StationEntry) (string, *float64, *float64) { return e.ID, e.Latitude, e.Longitude })
}

// page returns one page of a list in the format that a call requests, with an ETag. `feature` returns the id and the
// position of an entry; nil coordinates are unknown. The error is a *schema.Problem if the call requests another
// format.
func page[T any](
	c *httpapi.Call, list schema.List[T], feature func(*T) (id string, lat, lon *float64),
) (resp httpapi.Response, err error) {
	geo, err := wantsGeoJSON(c)
	if err != nil {
		return resp, err
	}
	var value any = list
	if geo {
		value = collection(list, feature)
	}
	body, err := json.Marshal(value)
	if err != nil {
		return resp, fmt.Errorf("rendering a list: %w", err)
	}
	if resp = httpapi.Ready(body, time.Time{}); geo {
		resp.Type = []string{GeoJSON}
	}
	return resp, nil
}

// collection returns a page as GeoJSON. In GeoJSON, the longitude of a position comes first.
func collection[T any](list schema.List[T], feature func(*T) (id string, lat, lon *float64)) air.FeatureCollection {
	all := air.FeatureCollection{
		Type: "FeatureCollection", Features: make([]air.Feature, len(list.Data)), HasMore: list.HasMore, NextCursor: list.NextCursor,
	}
	for i := range list.Data {
		id, lat, lon := feature(&list.Data[i])
		all.Features[i] = air.Feature{Type: "Feature", ID: id, Properties: &list.Data[i]}
		if lat != nil && lon != nil {
			all.Features[i].Geometry = &air.Point{Type: "Point", Coordinates: [2]float64{*lon, *lat}}
		}
	}
	return all
}
