package cpcbformat

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/schema/air"
	"vayu/schema/naqi"
	"vayu/schema/parameter"
)

// maxDepth is the largest nesting depth of a feed's elements; the feed needs six.
const maxDepth = 12

// feedStation is a station of the live feed in raw form.
type feedStation struct {
	name, city, state   string
	latitude, longitude string
	stamp               string
	pollutants          []pollutantEntry
	value, dominant     string // AQI and dominant pollutant as CPCB computed them
}

// pollutantEntry is a pollutant of a station, as text. The fields min, max and hourly
// are used only to detect a stuck sensor.
type pollutantEntry struct{ id, min, max, avg, hourly string }

// ParseFeed reads CPCB's live feed and adds its sub-indices to b. The feed has no concentrations: its field Avg is the
// sub-index (0–500) of the last 24 hours (8 for CO and O3), published hourly. For a malformed feed, or a feed that
// [gate] rejects, ParseFeed adds nothing and returns an [*ingest.BatchError]. The caller limits the size of r.
func ParseFeed(r io.Reader, b *ingest.Builder) error {
	stations, err := readFeed(r, b)
	if err != nil {
		return err
	}
	if err := gate(stations); err != nil {
		return err
	}
	seen := make(map[feedKey]bool, 7*len(stations))
	for i := range stations {
		b.Describe(func() (int64, string) { return int64(i + 1), fmt.Sprintf("%+v", stations[i]) })
		if err := addFeed(b, &stations[i], seen); err != nil {
			return err
		}
	}
	return nil
}

// feedKey identifies a reading by its station, parameter and time, to detect duplicates in a feed.
type feedKey struct {
	station   int
	parameter parameter.Parameter
	at        int64
}

func addFeed(b *ingest.Builder, s *feedStation, seen map[feedKey]bool) error {
	if air.Slug(s.name) == "" {
		for range s.pollutants {
			b.Reject(ingest.NoStation)
		}
		return nil
	}
	lat, lon, reason := Position(s.latitude, s.longitude)
	if reason != ingest.None {
		b.Reject(reason)
	}
	at, _ := ParseStamp(s.stamp)
	station := b.Station(Station(s.name, s.city, s.state, lat, lon))
	for _, f := range s.pollutants {
		p, _ := parameter.Parse(f.id)
		reading, reason := SubIndex(p, at, f.avg)
		if reason != ingest.None && reason != ingest.MissingValue {
			b.RejectField(reason, f.id)
			continue
		}
		key := feedKey{station, reading.Parameter, reading.At.Unix()}
		if seen[key] {
			b.RejectField(ingest.Duplicate, f.id)
			continue
		}
		if reason == ingest.MissingValue {
			b.Missing(station, reading)
			continue
		}
		seen[key] = true
		reading.Flag = f.flag()
		if err := b.Add(station, reading); err != nil {
			return err
		}
	}
	return nil
}

// flag returns [air.Stuck] if the sensor is probably stuck: its minimum, maximum and mean of the day are equal, and its
// last hour has no value. Otherwise it returns [air.Plain].
func (f *pollutantEntry) flag() air.Flag {
	if f.min == f.avg && f.max == f.avg && strings.TrimSpace(f.hourly) == "NA" {
		return air.Stuck
	}
	return air.Plain
}

// readFeed reads the whole feed. It returns an error for an incomplete feed. It reports the attributes of the elements
// to b, which adds them to the [ingest.Fingerprint].
func readFeed(r io.Reader, b *ingest.Builder) ([]feedStation, error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(512); fetch.IsHTML(head) {
		return nil, ingest.BadReplyf("a web page (HTML) in place of the feed's XML")
	}
	d := xml.NewDecoder(in)
	w := feedWalk{builder: b, attributes: make(map[attributeOf]bool)}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unreadable(err)
		}
		if err := w.token(token); err != nil {
			return nil, err
		}
	}
	if len(w.stations) == 0 {
		return nil, ingest.BadReplyf("the feed has no stations")
	}
	return w.stations, nil
}

// unreadable returns an [ingest.BatchError] for malformed or truncated XML. It wraps any
// other error, such as the end of the context.
func unreadable(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(err.Error(), "xml:") {
		return ingest.BadReplyf("%v", err)
	}
	return fmt.Errorf("reading the feed: %w", err)
}

// feedWalk has the state of one pass over the elements of a feed.
type feedWalk struct {
	depth       int
	closed      bool
	state, city string
	stations    []feedStation

	builder    *ingest.Builder
	attributes map[attributeOf]bool // attributes that were reported to the builder
}

// attributeOf identifies an attribute by its element and its name.
type attributeOf struct{ element, name string }

// maxAttributes is the largest number of attributes in feedWalk.attributes; the feed has 16.
const maxAttributes = 500

func (w *feedWalk) token(token xml.Token) error {
	switch t := token.(type) {
	case xml.Directive:
		return ingest.BadReplyf("a document type declaration: the feed has none, and entities are not expanded")
	case xml.StartElement:
		if w.depth++; w.depth > maxDepth {
			return ingest.BadReplyf("elements lie more than %d deep", maxDepth)
		}
		if w.depth == 1 && (w.closed || t.Name.Local != "AqIndex") {
			return ingest.BadReplyf("element %q in place of AqIndex", t.Name.Local)
		}
		w.start(t)
	case xml.EndElement:
		w.depth--
		w.closed = w.closed || w.depth == 0
	}
	return nil
}

func (w *feedWalk) start(t xml.StartElement) {
	for _, a := range t.Attr {
		of := attributeOf{t.Name.Local, a.Name.Local}
		if !w.attributes[of] && len(w.attributes) < maxAttributes {
			w.attributes[of] = true
			w.builder.Field(of.element+"."+of.name, ingest.TextField)
		}
	}
	switch t.Name.Local {
	case "State":
		w.state, w.city = attribute(t, "id"), ""
	case "City":
		w.city = attribute(t, "id")
	case "Station":
		w.stations = append(w.stations, feedStation{
			name: attribute(t, "id"), city: w.city, state: w.state, stamp: strings.TrimSpace(attribute(t, "lastupdate")),
			latitude: attribute(t, "latitude"), longitude: attribute(t, "longitude"),
		})
	}
	if len(w.stations) == 0 {
		return
	}
	s := &w.stations[len(w.stations)-1]
	switch t.Name.Local {
	case "Pollutant_Index":
		s.pollutants = append(s.pollutants, pollutantEntry{
			attribute(t, "id"), attribute(t, "Min"), attribute(t, "Max"), attribute(t, "Avg"), attribute(t, "Hourly_sub_index"),
		})
	case "Air_Quality_Index":
		s.value, s.dominant = strings.TrimSpace(attribute(t, "Value")), attribute(t, "Predominant_Parameter")
	}
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// index computes the AQI of a station by the rules of the National AQI. The attributes Avg have the sub-indices.
func (s *feedStation) index() (aqi int, dominant air.Pollutant, ok bool) {
	indices := naqi.None()
	for _, f := range s.pollutants {
		p, known := air.ParsePollutant(f.id)
		v, reason := ingest.ParseValue(f.avg)
		if known && reason == ingest.None && v <= naqi.MaxIndex && indices[p] < 0 {
			indices[p] = int(v + 0.5)
		}
	}
	return naqi.Index(indices)
}
