// Package public serves the public edge: the current air without a key, for caches and for pages of every origin. Its
// replies depend on the URL only, so that one cache can hold them for all clients.
package public

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/ratelimit"
	"vayu/query/caching"
	"vayu/query/history"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/query/tiles"
	"vayu/schema"
)

// Prefix precedes all paths of the public edge. It is outside /v1 and /dashboard, so that a key or a session never
// selects a path below it.
const Prefix = "/public/v1"

// Setting is the world (live or sandbox) whose air is public; empty for none.
type Setting string

// UnmarshalText accepts live, sandbox and the empty text.
func (s *Setting) UnmarshalText(text []byte) error {
	switch *s = Setting(text); *s {
	case "", Setting(schema.Live.String()), Setting(schema.Sandbox.String()):
		return nil
	}
	return fmt.Errorf("%q must be live or sandbox, or empty for no public edge", text)
}

// World returns the world whose air quality is public; false if none is.
func (s Setting) World() (schema.World, bool) { return schema.WorldOf(string(s)), s != "" }

// Config has the data of the public world, and the settings of the public edge.
type Config struct {
	World schema.World
	// Snapshot returns the latest snapshot; nil if there is none yet.
	Snapshot func() *snapshot.Snapshot
	History  *history.History
	Tiles    *tiles.Cache
	Slots    *history.Slots // limit of concurrent queries and drawings; all clients share those of one account
	// Locate returns the position of a pin code. The error is a *schema.Problem.
	Locate func(ctx context.Context, code int32) (places.Point, error)
	// BaseURL returns the URL of the API for clients, without a slash at its end. It is called when the API listens.
	BaseURL func() string
	Limited bool // whether the rate of an address has a limit
	Now     func() time.Time
}

const (
	// maxReplies bounds the memory of rendered replies. It suffices for ten replies about each of about 500 cities.
	maxReplies = 5_000
	// perSecond and `burst` limit the requests of one address. A map of a large screen has about 60 tiles. Mobile
	// networks in India put thousands of people behind one IPv4 address, so the limit is above that of a key.
	perSecond = 100
	burst     = 1000
	// maxClients bounds the memory of the limits to about 10 MB.
	maxClients = 50_000
	// replyLifetime is how long a rendered reply is cached. The time is short, because a cached reply does not state
	// that its figures have become stale meanwhile.
	replyLifetime = 5 * time.Minute
)

// account is the account id under which requests without a key acquire slots. No real account has this id.
const account = "public"

// edge has the configuration and the caches of the public edge. Its methods answer the requests.
type edge struct {
	Config
	answers *caching.Replies
	// positions caches the replies to requests with lat and lon. There are millions of positions, which would
	// displace the replies about cities in the cache `answers`.
	positions *caching.Replies
	clients   *ratelimit.Limiter[netip.Addr]
}

// Routes returns the routes of the public edge.
func Routes(c Config) []httpapi.Route {
	replies := func() *caching.Replies { return caching.NewReplies(replyLifetime, maxReplies, 0) }
	tooMany := fmt.Sprintf("An address can send %d requests per second. Use a key, or a cache in front.", perSecond)
	e := &edge{Config: c, clients: ratelimit.New[netip.Addr](perSecond, burst, maxClients, tooMany), answers: replies(), positions: replies()}
	route := func(path, types string, h handler, params ...string) httpapi.Route {
		return httpapi.Route{Method: http.MethodGet, Path: Prefix + path, NoAuth: true, Type: types, Params: params, Handler: e.handle(withAir(h))}
	}
	script := route("/widget.js", scriptType+", application/javascript", nil)
	script.Handler = e.handle(widget()) // it also works before there is any air
	return []httpapi.Route{
		route("/cities", "", e.listCities),
		route("/cities/{city}", "", e.city, "language"),
		route("/cities/{city}/badge.svg", svgTypes, e.badge),
		route("/cities/{city}/chart.svg", svgTypes, e.bars, "days"),
		route("/cities/{city}/feed.atom", atomTypes, e.cityFeed(atom), "language"),
		route("/cities/{city}/feed.rss", rssTypes, e.cityFeed(rss), "language"),
		route("/cities/{city}/alert.cap", capType+", application/xml, text/xml", e.alert),
		route("/alerts.atom", atomTypes, e.alertFeed(atom), "language"),
		route("/alerts.rss", rssTypes, e.alertFeed(rss), "language"),
		script,
		route("/aqi", "", e.position, "lat", "lon", "pincode"),
		route("/stations.geojson", station.GeoJSON, e.stations),
		route("/tiles/surface/{z}/{x}/{y}.png", tiles.PNG+", image/*", e.tile(tiles.ParseSurface), tiles.Params()...),
		route("/tiles/{layer}/{z}/{x}/{y}.mvt", tiles.MVT, e.tile(tiles.ParseLayer)),
	}
}

// svgTypes are the media types with which a client can select an SVG image in its Accept header.
const svgTypes = svgType + ", image/*"

const svgType = "image/svg+xml"

// request is a call of a client that has not exceeded its rate limit.
type request struct {
	*httpapi.Call
	snap *snapshot.Snapshot
	now  time.Time
}

// handler answers a request. `at` is the end of the hour that the reply is about, in Unix seconds; 0 for none. It
// determines how long caches hold the reply.
type handler func(r *request) (resp httpapi.Response, at uint32, err error)

// embeddable lets pages of other origins use a reply, even if these pages isolate themselves from other origins.
var embeddable = map[string][]string{"Cross-Origin-Resource-Policy": {"cross-origin"}} //nolint:gochecknoglobals // a constant

// errNoFigures is the problem of a world without data. Caches must not store it.
var errNoFigures = schema.NewProblem(schema.ServiceUnavailable, "", "There is no data yet. Retry later.")

// handle limits the rate of a client, calls a handler, and sets how long caches hold the reply. Caches hold an error
// about the URL for a short time. Every other error depends on the client or the time, so they do not hold it.
func (e *edge) handle(h handler) httpapi.Handler {
	return func(c *httpapi.Call) (resp httpapi.Response, err error) {
		r := &request{Call: c, snap: e.Snapshot(), now: e.Now()}
		c.World = e.World
		if e.Limited {
			if err := e.clients.Admit(ratelimit.Network(c.Client), r.now); err != nil {
				return resp, err
			}
		}
		resp, at, err := h(r)
		if problem, ok := errors.AsType[*schema.Problem](err); ok && problem.Code.Status() < http.StatusTooManyRequests {
			resp, err = httpapi.Response{Status: problem.Code.Status(), Value: problem.Body("")}, nil
			resp.Cache = errorControl
		} else if resp.Cache == nil {
			resp.Cache = control(at, r.now)
		}
		resp.Header, resp.Measured = embeddable, 0 // a header with the age of the figures would become wrong in a cache
		return resp, err
	}
}

// withAir returns a handler that calls h. While there is no air, the handler returns errNoFigures.
func withAir(h handler) handler {
	return func(r *request) (httpapi.Response, uint32, error) {
		if r.snap == nil || len(r.snap.Cities) == 0 {
			return httpapi.Response{}, 0, errNoFigures
		}
		return h(r)
	}
}

// tile returns the handler of map tiles. The function `parse` parses the request for a tile.
func (e *edge) tile(parse func(*httpapi.Call) (tiles.Request, error)) handler {
	return func(r *request) (resp httpapi.Response, at uint32, err error) {
		t, err := parse(r.Call)
		if err != nil {
			return resp, 0, err
		}
		r.Account = account
		resp, err = e.Tiles.Answer(r.Call, t, r.snap, e.Slots, r.now)
		return resp, r.snap.Newest(), err
	}
}
