package query_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/maptile"

	"vayu/query/chart"
	"vayu/schema"
)

// delhiTile is the tile of zoom 8 around Delhi.
var delhiTile = maptile.At(orb.Point{77.2, 28.6}, 8)

func path(layer string, t maptile.Tile, suffix string) string {
	return fmt.Sprintf("/v1/tiles/%s/%d/%d/%d.%s", layer, t.Z, t.X, t.Y, suffix)
}

// features returns the features of a vector tile in degrees.
func (w *fixture) features(t *testing.T, layer string, tile maptile.Tile) []*geojson.Feature {
	t.Helper()
	status, h, body := w.get(t, path(layer, tile, "mvt"))
	if status != http.StatusOK || h.Get("Content-Type") != "application/vnd.mapbox-vector-tile" {
		t.Fatalf("status %d, type %q: %s", status, h.Get("Content-Type"), body)
	}
	layers, err := mvt.Unmarshal([]byte(body))
	if err != nil || len(layers) != 1 || layers[0].Name != layer || layers[0].Version != 2 {
		t.Fatalf("the tile has the layers %v, %v", layers, err)
	}
	layers.ProjectToWGS84(tile)
	return layers[0].Features
}

func TestVectorTiles(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	for layer, want := range map[string]string{
		"stations": "id=cpcb-anand-vihar aqi=331 category=Very Poor stale=false 28.65,77.32; id=cpcb-mandir-marg aqi=200 category=Moderate stale=false 28.64,77.20",
		"cities":   "name=Delhi aqi=266 category=Poor stale=false 28.64,77.26",
	} {
		t.Run(layer, func(t *testing.T) {
			var got []string
			for _, f := range w.features(t, layer, delhiTile) {
				text := ""
				for _, name := range []string{"id", "name", "aqi", "category", "stale"} {
					if value, ok := f.Properties[name]; ok && (name != "name" || layer == "cities") {
						text += fmt.Sprintf("%s=%v ", name, value)
					}
				}
				got = append(got, text+fmt.Sprintf("%.2f,%.2f", f.Point().Lat(), f.Point().Lon()))
			}
			slices.Sort(got)
			if text := strings.Join(got, "; "); text != want {
				t.Errorf("got  %s\nwant %s", text, want)
			}
		})
	}
}

// A pin code in a tile has the AQI of GET /v1/aqi.
func TestTileOfPinCodes(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	codes := w.features(t, "pins", delhiTile)
	if len(codes) < 50 {
		t.Fatalf("the tile has %d pin codes", len(codes))
	}
	for _, f := range codes[:20] {
		var record struct{ AQI *float64 }
		_, body := w.getInto(t, fmt.Sprintf("/v1/aqi?pincode=%v", f.Properties["pincode"]), &record)
		if record.AQI == nil {
			t.Fatalf("%v: no AQI: %s", f.Properties, body)
		}
		if f.Properties["aqi"] != *record.AQI {
			t.Errorf("%v: the API has the AQI %v", f.Properties, *record.AQI)
		}
	}
	if far := w.features(t, "pins", maptile.New(5, 3, 3)); len(far) > 0 {
		t.Errorf("a tile of zoom 3 has %d pin codes", len(far))
	}
}

// A tile with many stations has clusters, whose numbers add up.
func TestTileOfManyStationsHasClusters(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen)
		SELECT 's' || number, 'x', 's', 'Delhi', 'Delhi', 28 + number %% 50 / 50, 77 + number / 3000, 'reference', 'x', 'x', toDateTime(%d), toDateTime(%[2]d) FROM numbers(3000)`,
		w.live, hour.Unix()))
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,%s) SELECT 's' || number, %s FROM numbers(3000)", w.live, figureColumns,
		strings.Replace(figure{at: hour, aqi: 100}.columns(), ",100,", ",number % 400,", 1)))
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 100})
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	sum, most := 0.0, 0.0
	for _, f := range w.features(t, "stations", maptile.At(orb.Point{77.2, 28.6}, 4)) {
		sum += f.Properties["count"].(float64)
		most = max(most, f.Properties["aqi"].(float64))
	}
	if sum != 3000 || most != 399 {
		t.Errorf("the clusters have %v stations and the AQI %v", sum, most)
	}
}

// The colour of the surface is that of the AQI which GET /v1/aqi has for the position.
func TestSurfaceHasTheFiguresOfTheAPI(t *testing.T) {
	t.Parallel()
	w := india(t)
	status, h, body := w.get(t, path("surface", delhiTile, "png"))
	if status != http.StatusOK || h.Get("Content-Type") != "image/png" {
		t.Fatalf("status %d, type %q: %s", status, h.Get("Content-Type"), body)
	}
	img, err := png.Decode(bytes.NewReader([]byte(body)))
	if err != nil || img.Bounds() != image.Rect(0, 0, 256, 256) {
		t.Fatalf("the tile is %v, %v", img, err)
	}
	seen := map[color.RGBA]int{}
	for y := 0; y < 256; y += 8 { // on a node
		for x := 0; x < 256; x += 8 {
			pixel := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			seen[color.RGBA{pixel.R, pixel.G, pixel.B, 255}]++
			n := float64(uint32(1) << delhiTile.Z)
			lon := (float64(delhiTile.X)+float64(x)/256)/n*360 - 180
			lat := math.Atan(math.Sinh(math.Pi*(1-2*(float64(delhiTile.Y)+float64(y)/256)/n))) * 180 / math.Pi
			var record struct {
				AQI *int
			}
			status, _, body := w.get(t, fmt.Sprintf("/v1/aqi?lat=%f&lon=%f", lat, lon))
			if status == http.StatusNotFound {
				continue
			}
			decode(t, body, &record)
			if record.AQI == nil {
				t.Fatalf("status %d without AQI: %s", status, body)
			}
			near := false // the other nodes have small weights, so the category can be another one near its limit
			for _, other := range []int{-25, 0, 25} {
				c := chart.Colour(min(max(*record.AQI+other, 0), 500))
				near = near || c == color.RGBA{pixel.R, pixel.G, pixel.B, 255}
			}
			if !near {
				t.Errorf("%f,%f: the AQI is %d, and the colour %v", lat, lon, *record.AQI, pixel)
			}
		}
	}
	if len(seen) < 3 {
		t.Errorf("the tile has %d colours", len(seen))
	}
	// The uncertainty needs ten stations; without them nothing is drawn.
	_, _, body = w.get(t, path("surface", delhiTile, "png?show=uncertainty"))
	if img, err = png.Decode(bytes.NewReader([]byte(body))); err != nil {
		t.Fatal(err)
	}
	if _, _, _, alpha := img.At(128, 128).RGBA(); alpha != 0 {
		t.Error("an uncertainty of a few stations is drawn")
	}
}

// A grey that is darker means a larger error. A lower opacity far from stations would make it paler.
func TestUncertaintyHasOneOpacity(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for i := range 12 {
		w.station(t, w.live, fmt.Sprint("s", i), "Delhi", "Delhi", 28.4+float64(i)/20, 77.2+float64(i%3)/10, figureAt(hour, 100+20*(i%4)))
	}
	w.cityHour(t, w.live, "Delhi", "Delhi", figureAt(hour, 120))
	w.rollup(t, w.live, hour)
	run(t, w)
	_, _, body := w.get(t, path("surface", delhiTile, "png?show=uncertainty"))
	img, err := png.Decode(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint8]int{}
	for y := range 256 {
		for x := range 256 {
			seen[color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA).A]++
		}
	}
	delete(seen, 0)
	if len(seen) != 1 {
		t.Errorf("got pixels by opacity %v, want one opacity", seen)
	}
}

// Figures older than three hours are not drawn, and a pin code near them has none.
func TestTilesLeaveOutStaleFigures(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	old := figure{at: hour.Add(-5 * time.Hour), aqi: 331}
	w.station(t, w.live, "a", "Delhi", "Delhi", 28.6469, 77.3161, old)
	w.cityHour(t, w.live, "Delhi", "Delhi", old)
	w.rollup(t, w.live, old.at)
	run(t, w)
	_, _, body := w.get(t, path("surface", delhiTile, "png"))
	img, err := png.Decode(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for y := range 256 {
		for x := range 256 {
			if _, _, _, alpha := img.At(x, y).RGBA(); alpha != 0 {
				t.Fatalf("the pixel %d,%d has a colour", x, y)
			}
		}
	}
	for _, f := range w.features(t, "pins", delhiTile) {
		if index, ok := f.Properties["aqi"]; ok {
			t.Fatalf("a pin code has the AQI %v", index)
		}
	}
	if all := w.features(t, "stations", delhiTile); len(all) != 1 || all[0].Properties["stale"] != true {
		t.Errorf("the stations are %v, want a stale one", all)
	}
}

func TestTilesAreConditional(t *testing.T) {
	t.Parallel()
	w := india(t)
	_, h, _ := w.get(t, path("stations", delhiTile, "mvt"))
	if h.Get("ETag") == "" || !strings.HasPrefix(h.Get("Cache-Control"), "private, max-age=") {
		t.Fatalf("the reply has the header %v, want an ETag and a Cache-Control for one key", h)
	}
	if status, _, body := w.get(t, path("stations", delhiTile, "mvt"), "If-None-Match", h.Get("ETag")); status != http.StatusNotModified {
		t.Errorf("status %d: %s", status, body)
	}
}

func TestTilesRejectBadRequests(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.rejects(t, "/v1/tiles/", map[string]rejection{
		"station/8/182/107.mvt":                 {schema.InvalidRequest, "layer", "Did you mean stations?"},
		"stations/13/0/0.mvt":                   {schema.InvalidRequest, "z", "from 0 to 12"},
		"stations/-1/0/0.mvt":                   {schema.InvalidRequest, "z", "from 0 to 12"},
		"stations/3/8/0.mvt":                    {schema.InvalidRequest, "x", "from 0 to 7"},
		"stations/3/0/8.mvt":                    {schema.InvalidRequest, "y", "from 0 to 7"},
		"stations/3/01/0.mvt":                   {schema.InvalidRequest, "x", "from 0 to 7"},
		"stations/3/1.5/0.mvt":                  {schema.InvalidRequest, "x", "from 0 to 7"},
		"stations/3/4294967296/0.mvt":           {schema.InvalidRequest, "x", "from 0 to 7"},
		"stations/3/0/0.mvt?show=value":         {schema.InvalidRequest, "show", ""},
		"surface/8/182/107.png?parameter=pm10":  {schema.InvalidRequest, "parameter", "aqi and pm25"},
		"surface/8/182/107.png?parameter=pm2.5": {schema.InvalidRequest, "parameter", "Did you mean pm25?"},
		"surface/8/182/107.png?show=valu":       {schema.InvalidRequest, "show", "Did you mean value?"},
		"surface/8/256/107.png":                 {schema.InvalidRequest, "x", "from 0 to 255"},
		"surface/8/182/107.mvt":                 {schema.InvalidRequest, "layer", "stations, cities or pins"},
		"stations/8/182/107.png":                {schema.NotFound, "", ""},
		"stations/8/182.mvt":                    {schema.NotFound, "", ""},
	})
}
