// Package dashboard serves the web dashboard: a single-page application that uses only the public
// API. It also serves /docs, the reference of that API.
package dashboard

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"strings"
	"time"

	"vayu/internal/httpapi"
)

// base is the path of the application. The build of the web files (web/vite.config.ts) has the same path.
const base = "/dashboard/"

// In a fresh checkout, dist has only a hidden file, with which go:embed compiles before the web files are built.
//
//go:embed all:dist
var built embed.FS

// New returns the handlers of the dashboard by path, as httpapi.Config.Open needs them. The router admits only GET and
// HEAD, and itself handles the API calls below /dashboard/v1/. The page needs no key and is the same for all users.
func New() (map[string]http.Handler, error) {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		return nil, fmt.Errorf("opening the dashboard: %w", err)
	}
	return handlers(dist)
}

func handlers(dist fs.FS) (map[string]http.Handler, error) {
	s, err := newSite(dist)
	if err != nil {
		return nil, err
	}
	return map[string]http.Handler{"/dashboard": http.HandlerFunc(toPage), base: s, "/docs": http.HandlerFunc(s.serveDocs)}, nil
}

func toPage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Location", base)
	w.WriteHeader(http.StatusFound)
}

// site holds the handlers of all files of the build, with their compressed content in memory.
type site struct {
	page  http.Handler
	docs  http.Handler            // reference of the API
	files map[string]http.Handler // by path of the URL
}

func newSite(dist fs.FS) (*site, error) {
	s := &site{files: map[string]http.Handler{}}
	err := fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		body, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		h, err := static(name, body)
		if err != nil {
			return err
		}
		switch name {
		case index:
			s.page = h
		case docs:
			s.docs = h
		default:
			s.files[base+name] = h
		}
		return nil
	})
	if err == nil && s.page == nil {
		s.page, err = static(index, []byte(unbuilt))
	}
	if s.docs == nil {
		s.docs = s.page
	}
	if err != nil {
		return nil, fmt.Errorf("reading the dashboard: %w", err)
	}
	return s, nil
}

const (
	index = "index.html"
	docs  = "docs.html"
)

// unbuilt is the page that is served if the dashboard was not built.
const unbuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vayu: the dashboard is not built</title>
<h1>The dashboard is not built</h1>
<p>This program was made with <code>go build</code> alone, which leaves the page out. To have it, type</p>
<pre>make build</pre>
<p>in the source, which needs Node.js, and start the new program. The API works as it is: see <a href="/openapi.json">/openapi.json</a>.</p>
</html>
`

// Has reports whether a path is a file of the build, or could be a view within the single-page application.
// Directly below base, only index.html and names without an extension can be views. A deeper path may have
// dots, as in names of places. No view is below /dashboard/v1/ or in assets. Has implements httpapi.Tree.
func (s *site) Has(name string) bool {
	if s.files[name] != nil {
		return true
	}
	rest, ok := strings.CutPrefix(name, base)
	first, _, deeper := strings.Cut(rest, "/")
	return ok && first != "v1" && first != assets && (deeper || rest == index || path.Ext(rest) == "")
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), guards)
	if h := s.files[r.URL.Path]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	s.page.ServeHTTP(w, r)
}

func (s *site) serveDocs(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), guards)
	w.Header()["Content-Security-Policy"] = docsPolicy
	s.docs.ServeHTTP(w, r)
}

// guards are response headers of every file. With these headers, the page loads nothing from other hosts, runs only its
// own scripts, and cannot be framed. If the page fails to escape a name, scripts in the name do not run.
var guards = map[string][]string{
	"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy": {"camera=(), display-capture=(), geolocation=(self), microphone=(), payment=(), " +
		"publickey-credentials-get=(), usb=()"},
}

// docsPolicy is the Content-Security-Policy of /docs. It permits the inline styles of the viewer openapi-explorer.
var docsPolicy = []string{strings.Replace(guards["Content-Security-Policy"][0], "style-src 'self'", "style-src 'self' 'unsafe-inline'", 1)}

// assets is the folder of files whose names contain a hash of their content.
const assets = "assets"

// Values of the header Cache-Control. Files in assets are immutable. Clients must revalidate all other files.
var (
	forGood     = []string{"public, max-age=31536000, immutable"}
	revalidated = []string{"no-cache"}
)

// types are the media types of the build's files by suffix. Package mime is not used, because its results depend on the
// tables of the machine.
var types = map[string]string{
	".css":         "text/css; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".ico":         "image/x-icon",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

func static(name string, body []byte) (http.Handler, error) {
	typed, ok := types[path.Ext(name)]
	if !ok {
		return nil, fmt.Errorf("%s: its media type is unknown; see types", name)
	}
	resp := httpapi.Ready(body, time.Time{})
	resp.Type, resp.Cache = []string{typed}, revalidated
	if strings.HasPrefix(name, assets+"/") {
		resp.Cache = forGood
	}
	return httpapi.Static(resp), nil
}
