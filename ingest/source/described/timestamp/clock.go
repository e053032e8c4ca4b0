// Package timestamp parses the times of records and formats the times of requests. A description (YAML) defines the
// formats.
package timestamp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a container may have no time zones

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/described/record"
	"vayu/ingest/source/file/table"
	"vayu/internal/config"
	"vayu/internal/config/section"
)

// Named formats of times. Any other format is a layout of Go's package time.
const (
	formatRFC3339 = "rfc3339"
	formatEpoch   = "epoch"
	formatEpochMS = "epoch-ms"
	formatCPCB    = "cpcb"  // the forms of time in CPCB's portals and data.gov.in; Indian time
	formatExcel   = "excel" // days since 30 December 1899, as in spreadsheets
	// formatInterval is an ISO 8601 interval: two times in RFC 3339 with a slash between them.
	formatInterval = "interval"
)

// namedFormats are the formats that are not layouts of Go. The first three may also be used in requests.
var namedFormats = []string{formatRFC3339, formatEpoch, formatEpochMS, formatCPCB, formatExcel, formatInterval}

// Clock parses the times of records. It caches the last times, so goroutines must not share a Clock.
type Clock struct {
	Field    []record.Path // paths of the time; empty if records have two times
	From, To []record.Path // paths of the start and the end of the interval
	Received bool          // records have no time: they get the time of the reply
	Begin    bool          // times are starts of averaging intervals, not ends

	join    bool // the texts at all paths form one time, such as a date and a time of day
	formats []string
	zone    *time.Location // zone of layouts that have none

	at, start stamp // the last times
}

// stamp is a cache of the last parsed text and its result. Consecutive records often have the same time.
type stamp struct {
	text   string
	at     time.Time
	length time.Duration // of an interval; 0 for a time
}

// Read reads a section of a description that defines the times of records, such as the section `time`.
func Read(s *section.Section) Clock {
	c := Clock{zone: time.UTC, join: s.Bool("join", false)}
	c.Field, c.From, c.To = record.ReadPaths(s, "field"), record.ReadPaths(s, "begin"), record.ReadPaths(s, "end")
	c.Received = s.Bool("received", false)
	c.Begin = s.Choice("interval", "end", "begin", "end") == "begin"
	both := len(c.To) > 0
	if both != (len(c.From) > 0) {
		s.Faultf("begin", "begin and end are the paths of both ends of the interval; field stands for one time")
	}
	given := 0
	for _, one := range []bool{len(c.Field) > 0, both, c.Received} {
		if one {
			given++
		}
	}
	if given != 1 {
		s.Faultf("field", "is the path of the time; begin and end stand for two times, and received: true for an API without times")
	}
	if both && s.Node("interval") != nil {
		s.Faultf("interval", "belongs to field, not to begin and end")
	}
	if c.Received {
		return c
	}
	zone := s.Text("zone")
	if zone != "" {
		var err error
		if c.zone, err = time.LoadLocation(zone); err != nil || zone == "Local" {
			c.zone = time.UTC
			s.Faultf("zone", "%q is not a time zone such as UTC or Asia/Kolkata", zone)
		}
	}
	for _, e := range s.List("format") {
		if err := checkFormat(e.Text, namedFormats); err != nil {
			s.FaultAt(e.Line, "format", err)
			continue
		}
		if zone == "" && needsZone(e.Text) {
			s.FaultAt(e.Line, "zone", fmt.Errorf("is missing: the format %q has no time zone", e.Text))
		}
		c.formats = append(c.formats, e.Text)
	}
	if c.Begin && c.Intervals() {
		s.Faultf("interval", "belongs to one time; the format %s has both ends", formatInterval)
	}
	if s.Node("format") == nil {
		s.Faultf("format", "is missing: rfc3339, epoch, epoch-ms or a layout such as \"2006-01-02 15:04:05\"")
	}
	return c
}

// Intervals reports whether one of the formats is that of an interval (formatInterval).
func (c *Clock) Intervals() bool { return slices.Contains(c.formats, formatInterval) }

// CheckRequestFormat returns an error if times in requests cannot have the format. They can be rfc3339, epoch,
// epoch-ms, or a layout of Go that has a date.
func CheckRequestFormat(format string) error { return checkFormat(format, namedFormats[:3]) }

// checkFormat returns an error if a format is neither one of the known formats nor a layout of Go.
func checkFormat(format string, known []string) error {
	if slices.Contains(known, format) {
		return nil
	}
	if strings.ContainsAny(format, "%Y") || strings.Contains(format, "dd") {
		return errors.New(`must be a layout of Go's reference time, did you mean "2006-01-02 15:04:05"?`)
	}
	at := time.Date(2023, 11, 17, 14, 0, 0, 0, time.UTC)
	if back, err := time.Parse(format, at.Format(format)); err != nil || !back.UTC().Truncate(24*time.Hour).Equal(at.Truncate(24*time.Hour)) {
		if strings.Contains(format, "2006") {
			return fmt.Errorf("%q is a layout without a complete date; write it like \"2006-01-02 15:04:05\"", format)
		}
		return config.UnknownKey(format, append([]string{"2006-01-02 15:04:05"}, known...))
	}
	return nil
}

// needsZone reports whether times in a format are ambiguous unless the description states a zone.
func needsZone(format string) bool {
	if format == formatExcel {
		return true
	}
	return !slices.Contains(namedFormats, format) && !strings.Contains(format, "Z07") && !strings.Contains(format, "-07") && !strings.HasSuffix(format, "Z")
}

// Format formats a time for a request.
func Format(at time.Time, format string) string {
	switch format {
	case formatRFC3339:
		return at.UTC().Format(time.RFC3339)
	case formatEpoch:
		return strconv.FormatInt(at.Unix(), 10)
	case formatEpochMS:
		return strconv.FormatInt(at.UnixMilli(), 10)
	}
	return at.UTC().Format(format)
}

// Of returns the time of a record, or the end of its interval; the zero time if it is invalid. `minutes` is the length
// of the interval, or 0 if the record states only one time. `reason` is [ingest.None] if time and length are valid.
// `seen` is false if the record lacks a field of the time. If c.Received is set, Of returns the minute of `now`.
func (c *Clock) Of(f *record.Frame, now time.Time) (at time.Time, minutes uint16, reason ingest.Reason, seen bool) {
	if c.Received {
		return now.UTC().Truncate(time.Minute), 0, ingest.None, true
	}
	if len(c.Field) > 0 {
		at, ok, seen := c.parseField(f, c.Field, &c.at)
		if ok && c.at.length > 0 {
			minutes, ok = table.Minutes(c.at.length)
		}
		if !ok {
			reason = ingest.BadTime
		}
		return at, minutes, reason, seen
	}
	from, ok, seen := c.parseField(f, c.From, &c.start)
	to, okTo, seenTo := c.parseField(f, c.To, &c.at)
	if ok && okTo {
		minutes, ok = table.Minutes(to.Sub(from))
	}
	if !ok || !okTo {
		reason = ingest.BadTime
	}
	return to, minutes, reason, seen && seenTo
}

// parseField parses the time at the paths, or returns the time in the cache `last` if the text is still the same.
func (c *Clock) parseField(f *record.Frame, paths []record.Path, last *stamp) (at time.Time, ok, seen bool) {
	text, seen := c.text(f, paths)
	if text != last.text || text == "" {
		at, length, ok := c.parse(text)
		if !ok {
			return time.Time{}, false, seen
		}
		last.text, last.at, last.length = strings.Clone(text), at, length
	}
	return last.at, true, seen
}

// text returns the text of a time: the first non-empty text at one of the paths. If c.join is true, text returns the
// texts at all paths, separated by spaces.
func (c *Clock) text(f *record.Frame, paths []record.Path) (text string, seen bool) {
	if !c.join {
		return f.Text(paths)
	}
	for i := range paths {
		one, found := f.Value(paths[i])
		seen = seen || found
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		if text != "" {
			text += " "
		}
		text += one
	}
	return text, seen
}

// parse parses a time, or an interval. For an interval it returns the end and the length.
func (c *Clock) parse(text string) (at time.Time, length time.Duration, ok bool) {
	text = strings.TrimSpace(text)
	for _, format := range c.formats {
		if format == formatInterval {
			at, length, ok = parseInterval(text)
		} else {
			at, ok = c.parseAs(text, format)
		}
		if ok {
			return at.UTC().Truncate(time.Second), length, true
		}
	}
	return time.Time{}, 0, false
}

// parseInterval parses an ISO 8601 interval: two times in RFC 3339, separated by a slash.
func parseInterval(text string) (end time.Time, length time.Duration, ok bool) {
	first, second, _ := strings.Cut(text, "/")
	begin, err := time.Parse(time.RFC3339Nano, first)
	if err != nil {
		return time.Time{}, 0, false
	}
	end, err = time.Parse(time.RFC3339Nano, second)
	if err != nil || end.Before(begin) {
		return time.Time{}, 0, false
	}
	return end, end.Sub(begin), true
}

// latestEpoch is 3000-01-01 as Unix seconds. A larger number is not a time in seconds.
const latestEpoch = 32_503_680_000

func (c *Clock) parseAs(text, format string) (time.Time, bool) {
	switch format {
	case formatRFC3339:
		at, err := time.Parse(time.RFC3339Nano, text)
		return at, err == nil
	case formatEpoch, formatEpochMS:
		n, err := strconv.ParseFloat(text, 64)
		if format == formatEpochMS {
			n /= 1000
		}
		if err != nil || math.IsNaN(n) || n <= 0 || n > latestEpoch {
			return time.Time{}, false
		}
		return time.Unix(int64(n), 0), true
	case formatCPCB:
		return cpcbformat.ParseTime(text)
	case formatExcel:
		at, ok := table.ExcelTime([]byte(text))
		return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, c.zone), ok
	}
	at, err := time.ParseInLocation(format, text, c.zone)
	return at, err == nil
}
