package public

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/alert/wording"
	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// feed has the content of a feed. The content is the same in each format.
type feed struct {
	ID, Title string
	URL       string // of the feed itself
	Site      string // URL that the feed is about
	Language  advice.Language
	Updated   time.Time
	Rights    string
	Entries   []entry
}

type entry struct {
	ID, Title string
	Updated   time.Time
	Type, URL string // media type and URL of the document that the entry is about; Type may be empty
	Summary   string
}

// format is a file format of feeds: Atom or RSS.
type format struct {
	suffix, mediaType string
	document          func(*feed) any
}

// cityFeed returns the handler of a city's feed. The feed has an entry for each of the last 24 hours in which the AQI
// category changed. An entry for every hour would flood a feed reader.
func (e *edge) cityFeed(as format) handler {
	return func(r *request) (resp httpapi.Response, at uint32, err error) {
		i, err := r.cityOf()
		if err != nil {
			return resp, 0, err
		}
		label := r.snap.Index.Label(i)
		of := links(label)
		title := func(p wording.Phrases) string { return fmt.Sprintf(p.AirOf, label) }
		resp, err = e.feed(r, as, of["self"]+"/feed", of["self"], title, func(f *feed) error {
			found, err := e.hours(r, i, dayHours)
			if err != nil {
				return err
			}
			f.Rights = strings.Join(e.attribution(r, i), ", ")
			for n, h := range slices.Backward(found) {
				if n == 0 || h.Category != found[n-1].Category {
					text, _ := advice.Of(h.Category, f.Language)
					f.Entries = append(f.Entries, entry{
						ID: fmt.Sprintf("%s#%d", f.ID, h.Hour.Unix()), Title: fmt.Sprintf("%s: AQI %d, %s", label, h.AQI, text.Name),
						Updated: h.Hour, URL: e.BaseURL() + of["self"], Summary: text.Statement + " " + text.General,
					})
				}
			}
			return nil
		})
		return resp, r.snap.Cities[i].At, err
	}
}

// alertFeed returns the handler of a feed of all alerts. Each entry links to the CAP message of an alert.
func (e *edge) alertFeed(as format) handler {
	return func(r *request) (resp httpapi.Response, at uint32, err error) {
		title := func(p wording.Phrases) string { return p.Alerts }
		resp, err = e.feed(r, as, Prefix+"/alerts", Prefix+"/cities", title, func(f *feed) error {
			for _, i := range e.alerts(r) {
				c := &r.snap.Cities[i]
				label := r.snap.Index.Label(i)
				text, _ := advice.Of(naqi.Category(int(c.AQI)), f.Language)
				f.Entries = append(f.Entries, entry{
					ID: f.ID + "#" + e.identifier(r, i), Title: fmt.Sprintf("%s: AQI %d, %s", label, c.AQI, text.Name),
					Updated: aggregate.Instant(c.At), Type: capType, URL: e.BaseURL() + links(label)["alert"], Summary: text.Statement,
				})
			}
			return nil
		})
		return resp, r.snap.Newest(), err
	}
}

// feed answers with a feed, in the language of the request. `path` is that of the feed without its suffix, and `fill`
// adds the entries. The id of the feed is a tag URI (RFC 4151) that contains the path. Feeds in other languages and
// formats have ids of their own, so that a reader can follow several.
func (e *edge) feed(r *request, as format, path, site string, title func(wording.Phrases) string, fill func(*feed) error) (resp httpapi.Response, err error) {
	language, err := r.language()
	if err != nil {
		return resp, err
	}
	path += as.suffix
	if language != advice.English {
		path += "?language=" + string(language)
	}
	return e.answers.Get(r.snap, r.now, "feed "+path, func() (resp httpapi.Response, err error) {
		f := &feed{
			ID: "tag:" + e.authority() + ",2026:" + e.World.String() + path, Title: title(wording.Of(language)), URL: e.BaseURL() + path, Site: e.BaseURL() + site,
			Language: language, Updated: aggregate.Instant(r.snap.Newest()),
		}
		if err := fill(f); err != nil {
			return resp, err
		}
		return xmlResponse(as.document(f), as.mediaType)
	})
}
