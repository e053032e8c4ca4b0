package public

import (
	"encoding/xml"
	"time"
)

// These are media types of feeds. Each route accepts several of them, because a feed reader may accept only one.
const (
	atomType  = "application/atom+xml"
	rssType   = "application/rss+xml"
	xmlTypes  = ", application/xml, text/xml"
	atomTypes = atomType + ", " + rssType + xmlTypes
	rssTypes  = rssType + ", " + atomType + xmlTypes
)

var (
	atom = format{".atom", atomType, func(f *feed) any { return atomOf(f) }} //nolint:gochecknoglobals // a constant
	rss  = format{".rss", rssType, func(f *feed) any { return rssOf(f) }}    //nolint:gochecknoglobals // a constant
)

// atomFeed is an Atom feed (RFC 4287).
type atomFeed struct {
	XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Language string      `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	ID       string      `xml:"id"`
	Title    string      `xml:"title"`
	Updated  string      `xml:"updated"`
	Links    []link      `xml:"link"`
	Author   string      `xml:"author>name"`
	Rights   string      `xml:"rights,omitempty"`
	Entries  []atomEntry `xml:"entry"`
}

type link struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string `xml:"id"`
	Title   string `xml:"title"`
	Updated string `xml:"updated"`
	Links   []link `xml:"link"`
	Summary string `xml:"summary"`
}

func atomOf(f *feed) atomFeed {
	out := atomFeed{
		Language: string(f.Language), ID: f.ID, Title: f.Title, Updated: f.Updated.Format(time.RFC3339), Links: []link{{"self", atomType, f.URL}},
		Author: "Vayu", Rights: f.Rights,
	}
	for _, e := range f.Entries {
		out.Entries = append(out.Entries, atomEntry{
			ID: e.ID, Title: e.Title, Updated: e.Updated.Format(time.RFC3339), Links: []link{{"alternate", e.Type, e.URL}}, Summary: e.Summary,
		})
	}
	return out
}

// rssFeed is a feed of RSS 2.0, which requires a description. As the RSS Advisory Board recommends, the feed has
// a link to itself in the form of Atom.
type rssFeed struct {
	XMLName xml.Name   `xml:"rss"`
	Version string     `xml:"version,attr"`
	Channel rssChannel `xml:"channel"`
}

type rssChannel struct {
	Title       string    `xml:"title"`
	Link        string    `xml:"link"`
	Description string    `xml:"description"`
	Language    string    `xml:"language"`
	Copyright   string    `xml:"copyright,omitempty"`
	Built       string    `xml:"lastBuildDate,omitempty"`
	Self        *link     `xml:"http://www.w3.org/2005/Atom link"`
	Items       []rssItem `xml:"item"`
}

type rssItem struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Description string `xml:"description"`
	ID          rssID  `xml:"guid"`
	Published   string `xml:"pubDate"`
}

// rssID is an id that is not a URL.
type rssID struct {
	Permanent bool   `xml:"isPermaLink,attr"`
	ID        string `xml:",chardata"`
}

func rssOf(f *feed) rssFeed {
	out := rssChannel{
		Title: f.Title, Link: f.Site, Description: f.Title, Language: string(f.Language), Copyright: f.Rights,
		Self: &link{"self", rssType, f.URL},
	}
	if f.Updated.Unix() > 0 { // it is 0 while no city has an AQI
		out.Built = f.Updated.Format(time.RFC1123Z)
	}
	for _, e := range f.Entries {
		out.Items = append(out.Items, rssItem{e.Title, e.URL, e.Summary, rssID{ID: e.ID}, e.Updated.Format(time.RFC1123Z)})
	}
	return rssFeed{Version: "2.0", Channel: out}
}
