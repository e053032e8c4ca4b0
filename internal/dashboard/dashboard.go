// Package dashboard serves the page that people use: a single-page application,
// which is built beside it and speaks the public API only.
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

// base is where the application lives, as its build knows it.
const base = "/dashboard/"

// The folder is empty in a fresh checkout but for a file that git keeps.
//
//go:embed all:dist
var built embed.FS

// New makes the handlers of the dashboard, by path, for httpapi.Config.Open: the router
// lets GET and HEAD through only, and answers itself below /dashboard/v1/. They need
// no key: the page is the same for everybody.
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
	return map[string]http.Handler{"/dashboard": http.HandlerFunc(toPage), base: s}, nil
}

// toPage leads from the path without its slash to the page.
func toPage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Location", base)
	w.WriteHeader(http.StatusFound)
}

// site is every file of the build, in memory and compressed.
type site struct {
	page  http.Handler
	files map[string]http.Handler // by whole path
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
		if name == index {
			s.page = h
		} else {
			s.files[base+name] = h
		}
		return nil
	})
	if err == nil && s.page == nil {
		s.page, err = static(index, []byte(unbuilt))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the dashboard: %w", err)
	}
	return s, nil
}

const index = "index.html"

// unbuilt is the page when there is no build.
const unbuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vayu: the dashboard is not built</title>
<h1>The dashboard is not built</h1>
<p>This program was made with <code>go build</code> alone, which leaves the page out. To have it, type</p>
<pre>make build</pre>
<p>in the source, which needs Node.js, and start the new program. The API works as it is: see <a href="/docs">/docs</a>.</p>
</html>
`

// Has implements httpapi.Tree: there are the files, and the page at every path that could
// be one of its own: names of places may have dots. A file beside the page that is not
// there is not found, and what is spelled like the API is no place in the page.
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

// guards are headers of every file. The page loads nothing from anywhere else, runs no
// script but its own, and stands in no frame, so that a name with markup in it that
// got past the escaping still does nothing.
var guards = map[string][]string{
	"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy": {"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), " +
		"publickey-credentials-get=(), usb=()"},
}

// assets is the folder whose files have a hash of their content in their name.
const assets = "assets"

// Cache-Control of files: for good when another content has another name, else until
// the server says that it is another.
var (
	forGood = []string{"public, max-age=31536000, immutable"}
	asked   = []string{"no-cache"}
)

// types are the media types of what a build has, so that they do not depend on the
// machine's own table.
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
		return nil, fmt.Errorf("%s: which media type it has is not known; see types", name)
	}
	resp := httpapi.Ready(body, time.Time{})
	resp.Type, resp.Cache = []string{typed}, asked
	if strings.HasPrefix(name, assets+"/") {
		resp.Cache = forGood
	}
	return httpapi.Static(resp)
}
