package mapping

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a container may have no time zones

	"vayu/ingest"
	"vayu/internal/config"
	"vayu/internal/config/section"
)

// Named formats of times. Any other format is a layout of Go's package time.
const (
	formatRFC3339 = "rfc3339"
	formatEpoch   = "epoch"
	formatEpochMS = "epoch-ms"
)

// clock reads the times of records.
type clock struct {
	field    []path
	received bool // records have no time: the time of the reply counts
	formats  []string
	zone     *time.Location // of layouts without a zone
	begin    bool           // times are the beginning of the averaging interval

	lastText string // the last parsed text and its time: consecutive records often share one
	last     time.Time
}

func readClock(s *section.Section) clock {
	c := clock{zone: time.UTC}
	c.field = readPaths(s, "field")
	c.received = s.Bool("received", false)
	c.begin = s.Choice("interval", "end", "begin", "end") == "begin"
	if (len(c.field) == 0) != c.received {
		s.Faultf("field", "is the path of the time; received: true stands for an API without times")
	}
	if c.received {
		return c
	}
	zone := s.Text("zone")
	if zone != "" {
		var err error
		if c.zone, err = time.LoadLocation(zone); err != nil || zone == "Local" {
			c.zone = time.UTC
			s.Faultf("zone", "%q is no time zone such as UTC or Asia/Kolkata", zone)
		}
	}
	for _, e := range s.List("format") {
		if err := CheckFormat(e.Text); err != nil {
			s.FaultAt(e.Line, "format", err)
			continue
		}
		if zone == "" && needsZone(e.Text) {
			s.FaultAt(e.Line, "zone", fmt.Errorf("is missing: the format %q has no time zone", e.Text))
		}
		c.formats = append(c.formats, e.Text)
	}
	if s.Node("format") == nil {
		s.Faultf("format", "is missing: rfc3339, epoch, epoch-ms or a layout such as \"2006-01-02 15:04:05\"")
	}
	return c
}

// CheckFormat checks that a text is a format of times: rfc3339, epoch, epoch-ms, or a
// layout of Go that holds a date.
func CheckFormat(format string) error {
	switch format {
	case formatRFC3339, formatEpoch, formatEpochMS:
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
		return config.UnknownKey(format, []string{formatRFC3339, formatEpoch, formatEpochMS, "2006-01-02 15:04:05"})
	}
	return nil
}

// needsZone reports whether times of a format are ambiguous without a zone.
func needsZone(format string) bool {
	switch format {
	case formatRFC3339, formatEpoch, formatEpochMS:
		return false
	}
	return !strings.Contains(format, "Z07") && !strings.Contains(format, "-07") && !strings.HasSuffix(format, "Z")
}

// Format formats a time as a parameter of a request.
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

// of returns the time of a record; seen is false if the record lacks the field.
func (c *clock) of(f *Frame, now time.Time) (at time.Time, reason ingest.Reason, seen bool) {
	if c.received {
		return now.UTC().Truncate(time.Minute), ingest.None, true
	}
	text, seen := f.text(c.field)
	if text != c.lastText || text == "" {
		at, ok := c.parse(text)
		if !ok {
			return time.Time{}, ingest.BadTime, seen
		}
		c.lastText, c.last = strings.Clone(text), at
	}
	return c.last, ingest.None, seen
}

func (c *clock) parse(text string) (time.Time, bool) {
	for _, format := range c.formats {
		if at, ok := c.parseAs(strings.TrimSpace(text), format); ok {
			return at.UTC().Truncate(time.Second), true
		}
	}
	return time.Time{}, false
}

// latestEpoch is 3000-01-01 in seconds; larger numbers are not seconds.
const latestEpoch = 32_503_680_000

func (c *clock) parseAs(text, format string) (time.Time, bool) {
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
	}
	at, err := time.ParseInLocation(format, text, c.zone)
	return at, err == nil
}
