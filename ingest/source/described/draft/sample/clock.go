package sample

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// layouts are the time formats that TimeFormat tries, in this order: day/month/year before month/day/year.
var layouts = []string{
	"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
	"2006-01-02 15:04", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05-0700", "2006/01/02 15:04:05", "2006/01/02 15:04",
	"02-01-2006 15:04:05", "02-01-2006 15:04", "02/01/2006 15:04:05", "02/01/2006 15:04", "01/02/2006 15:04:05", "01/02/2006 15:04",
	"02-Jan-2006 15:04:05", "02-Jan-2006 15:04", "02-Jan-2006 - 15:04", "02 Jan 2006 15:04:05", "02 Jan 2006 15:04", "Jan 2, 2006 3:04:05 PM",
	"2006-01-02 03:04 PM", "02-01-2006 03:04:05 PM", "02/01/2006 03:04 PM", "20060102150405", "200601021504", "20060102T150405Z", "Mon, 02 Jan 2006 15:04:05 MST", "2006-01-02T15", "2006010215",
}

// Times outside this range are not the times of readings.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// TimeFormat returns a time format that fits all texts, or "" if there is none. If the format is in `layouts`, `also`
// lists the other layouts of the same length that fit all texts.
func TimeFormat(texts []string) (format string, also []string) {
	if len(texts) == 0 {
		return "", nil
	}
	every := func(ok func(string) bool) bool {
		return !slices.ContainsFunc(texts, func(t string) bool { return !ok(t) })
	}
	number := func(least, most float64) func(string) bool {
		return func(t string) bool {
			n, err := strconv.ParseFloat(t, 64)
			return err == nil && n >= least && n < most
		}
	}
	from, to := float64(earliest.Unix()), float64(latest.Unix())
	switch {
	case every(func(t string) bool { return InRange(time.RFC3339Nano, t) }):
		return "rfc3339", nil
	case every(number(from, to)):
		return "epoch", nil
	case every(number(from*1000, to*1000)):
		return "epoch-ms", nil
	}
	for _, layout := range layouts {
		if every(func(t string) bool { return InRange(layout, t) }) {
			if format == "" {
				format = layout
			} else if len(layout) == len(format) {
				also = append(also, layout)
			}
		}
	}
	return format, also
}

// InRange reports whether a text is a time in the given layout, and can be the time of a reading.
func InRange(layout, text string) bool {
	at, err := time.Parse(layout, strings.TrimSpace(text))
	return err == nil && at.After(earliest) && at.Before(latest)
}

// ParseTime parses a text in a format that TimeFormat has returned. If the format has no zone, the result is in UTC.
func ParseTime(format, text string) time.Time {
	switch format {
	case "rfc3339":
		at, _ := time.Parse(time.RFC3339Nano, strings.TrimSpace(text))
		return at
	case "epoch", "epoch-ms":
		n, _ := strconv.ParseFloat(text, 64)
		if format == "epoch-ms" {
			n /= 1000
		}
		return time.Unix(int64(n), 0).UTC()
	}
	at, _ := time.Parse(format, strings.TrimSpace(text))
	return at
}
