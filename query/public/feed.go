package public

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/rollup"
	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// atomType is the media type of a feed, and atomTypes are those that readers ask for.
const (
	atomType  = "application/atom+xml"
	atomTypes = atomType + ", application/rss+xml, application/xml, text/xml"
)

// feed is an Atom feed (RFC 4287).
type feed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Links   []link   `xml:"link"`
	Author  string   `xml:"author>name"`
	Rights  string   `xml:"rights,omitempty"`
	Entries []entry  `xml:"entry"`
}

type link struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type entry struct {
	ID      string `xml:"id"`
	Title   string `xml:"title"`
	Updated string `xml:"updated"`
	Links   []link `xml:"link"`
	Summary string `xml:"summary"`
}

// cityFeed answers with a feed of a city. An entry is an hour in which the category was another one than before, in the
// last 24 hours. An entry for each hour would be noise in a reader.
func (e *edge) cityFeed(r *request) (resp httpapi.Response, at uint32, err error) {
	i, err := r.cityOf()
	if err != nil {
		return resp, 0, err
	}
	label := r.snap.Index.Label(i)
	resp, err = e.answers.get(r, "feed "+label, func() (resp httpapi.Response, err error) {
		found, err := e.hours(r, i, dayHours)
		if err != nil {
			return resp, err
		}
		of := links(label)
		f := e.newFeed(r, "Air quality of "+label, of["feed"])
		f.Rights = strings.Join(e.attribution(r, i), ", ")
		for n, h := range slices.Backward(found) {
			if n == 0 || h.Category != found[n-1].Category {
				text, _ := advice.Of(h.Category, advice.English)
				f.Entries = append(f.Entries, entry{
					ID:    fmt.Sprintf("%s#%d", f.ID, h.Hour.Unix()),
					Title: fmt.Sprintf("%s: AQI %d, %s", label, h.AQI, h.Category), Updated: h.Hour.Format(time.RFC3339),
					Links: []link{{Rel: "alternate", Href: e.BaseURL + of["self"]}}, Summary: text.Statement + " " + text.General,
				})
			}
		}
		return xmlResponse(f, atomType)
	})
	return resp, r.snap.Cities[i].At, err
}

// alertFeed answers with a feed of the alerts, which links to the message of each.
func (e *edge) alertFeed(r *request) (resp httpapi.Response, at uint32, err error) {
	resp, err = e.answers.get(r, "alerts", func() (httpapi.Response, error) {
		f := e.newFeed(r, "Air quality alerts", Prefix+"/alerts.atom")
		for _, i := range e.alerts(r) {
			c := &r.snap.Cities[i]
			label, category := r.snap.Index.Label(i), naqi.Category(int(c.AQI))
			text, _ := advice.Of(category, advice.English)
			f.Entries = append(f.Entries, entry{
				ID:    f.ID + "#" + e.identifier(r, i),
				Title: fmt.Sprintf("%s: AQI %d, %s", label, c.AQI, category), Updated: rollup.Instant(c.At).Format(time.RFC3339),
				Links: []link{{"alternate", capType, e.BaseURL + links(label)["alert"]}}, Summary: text.Statement,
			})
		}
		return xmlResponse(f, atomType)
	})
	return resp, r.snap.Newest(), err
}

// newFeed returns a feed without entries. Its id is a tag URI (RFC 4151) that lasts while the path does.
func (e *edge) newFeed(r *request, title, path string) feed {
	return feed{
		ID: "tag:" + e.authority() + ",2026:" + e.World.String() + path, Title: title, Author: "Vayu",
		Updated: rollup.Instant(r.snap.Newest()).Format(time.RFC3339),
		Links:   []link{{"self", atomType, e.BaseURL + path}},
	}
}
