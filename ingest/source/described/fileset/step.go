package fileset

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/pattern"
)

// step is the precision of the date in a name: 1 for the year, 2 for the month, 3 for the day, 4 for the hour. It is 0
// if there is no date, and negative if a larger unit is missing.
type step int

// fieldPattern matches a field such as {yyyy} in the address of files: a folder, a URL or a prefix in a bucket.
var fieldPattern = regexp.MustCompile(`\{([a-z][a-z0-9_]*|HH)\}`)

// fieldsOf returns the names of the fields in a text.
func fieldsOf(text string) []string {
	var all []string
	for _, m := range fieldPattern.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

// stepOf returns the precision of the date that a list of fields forms, or -1 if a larger unit is missing.
func stepOf(fields []string) step {
	n := step(0)
	for i, name := range pattern.Dates {
		if !slices.Contains(fields, name) {
			continue
		}
		if n != step(i) {
			return -1
		}
		n++
	}
	return n
}

func (s step) check() error {
	if s < 0 {
		return errors.New("has fields of a date without the larger ones: {HH} needs {dd}, {dd} needs {mm}, and {mm} needs {yyyy}")
	}
	return nil
}

// floor returns the start of the year, month, day or hour in which a time is.
func (s step) floor(t time.Time) time.Time {
	year, month, day, hour := t.Year(), t.Month(), t.Day(), t.Hour()
	switch s {
	case 1:
		month, day, hour = time.January, 1, 0
	case 2:
		day, hour = 1, 0
	case 3:
		hour = 0
	}
	return time.Date(year, month, day, hour, 0, 0, 0, t.Location())
}

// next returns the time one year, month, day or hour later.
func (s step) next(t time.Time) time.Time {
	switch s {
	case 1:
		return t.AddDate(1, 0, 0)
	case 2:
		return t.AddDate(0, 1, 0)
	case 3:
		return t.AddDate(0, 0, 1)
	}
	return t.Add(time.Hour)
}

// dates returns the fields of each year, month, day or hour that overlaps a window, in order. If the names of files
// have no date, it returns one nil map.
func (s step) dates(w ingest.Window, zone *time.Location) []map[string]string {
	if s <= 0 {
		return []map[string]string{nil}
	}
	var all []map[string]string
	for t := s.floor(w.From.In(zone)); t.Before(w.To) && len(all) < mostSteps; t = s.next(t) {
		fields := make(map[string]string)
		for i, layout := range []string{"2006", "01", "02", "15"}[:s] {
			fields[pattern.Dates[i]] = t.Format(layout)
		}
		all = append(all, fields)
	}
	return all
}

// mostSteps is the largest number of maps that the method `dates` returns. It is enough for the hours of twenty years.
const mostSteps = 200_000

// overlaps reports whether the date in the fields of a file overlaps a window. If the names of files have no date, it
// returns true. For an invalid date, it returns false.
func (s step) overlaps(fields map[string]string, w ingest.Window, zone *time.Location) bool {
	if s <= 0 {
		return true
	}
	numbers := []int{0, 1, 1, 0}
	for i := range int(s) {
		numbers[i], _ = strconv.Atoi(fields[pattern.Dates[i]])
	}
	at := time.Date(numbers[0], time.Month(numbers[1]), numbers[2], numbers[3], 0, 0, 0, zone)
	if at.Year() != numbers[0] || int(at.Month()) != numbers[1] || at.Day() != numbers[2] {
		return false
	}
	return at.Before(w.To) && s.next(at).After(w.From)
}
