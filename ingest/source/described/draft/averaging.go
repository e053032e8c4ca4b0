package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/ingest/source/described/draft/note"
	"vayu/ingest/source/described/draft/sample"
)

type averaging struct {
	d         time.Duration
	certainty note.Certainty
	evidence  string
}

// longestAveraging is the longest averaging interval that is guessed from the times of records.
const longestAveraging = 24 * time.Hour

// findAveraging guesses the averaging interval. It uses, in this order: the start and end times of a record, a field
// that states the interval, the time between records of a station, and whether all times are full hours or quarters.
func findAveraging(r *reading) averaging {
	c := &r.clock
	if c.field == nil {
		return averaging{time.Minute, note.Guessed, "the reply has no times, so its values are current ones"}
	}
	if d := c.length(); d > 0 {
		return averaging{d, note.Found, fmt.Sprintf("from %s to %s", c.other.Path, c.field.Path)}
	}
	for _, f := range r.fields {
		if d := namedInterval(f); d > 0 {
			return averaging{d, note.Found, fmt.Sprintf("the field %s is %s", f.Path, f.Texts[0])}
		}
	}
	if d, n := r.spacing(); d > 0 {
		return averaging{d, note.Guessed, fmt.Sprintf("the usual distance of two times of a station, %d of them", n)}
	}
	for _, step := range []time.Duration{time.Hour, 15 * time.Minute} { // t.Minute is in the zone that the time states
		if !slices.ContainsFunc(c.times, func(t time.Time) bool { return t.Minute()%int(step.Minutes()) != 0 || t.Second() != 0 }) {
			return averaging{step, note.Guessed, "all times are multiples of it"}
		}
	}
	if strings.Contains(c.field.Folded(), "hour") {
		return averaging{time.Hour, note.Guessed, "the name of the field with the times"}
	}
	return averaging{time.Minute, note.Guessed, "the times are at no full minute or hour, as those of current values"}
}

// length returns the first interval of a record (its end minus its start) that is in whole minutes; 0 if there is none.
func (c *clock) length() time.Duration {
	if c.other == nil {
		return 0
	}
	for i, text := range c.other.All {
		if i < len(c.times) {
			if d := c.times[i].Sub(sample.ParseTime(c.format, text)).Abs(); d >= time.Minute && d%time.Minute == 0 {
				return d
			}
		}
	}
	return 0
}

// intervalText matches a duration such as 1h, 15 min or PT1H.
var intervalText = regexp.MustCompile(`(?i)^(?:pt?)?(\d{1,3})\s*(h|hr|hour|hours|m|min|mins|minute|minutes|s|sec|seconds)$`)

var intervalNames = []string{"interval", "averaging", "averagingperiod", "averagingtime", "resolution", "frequency", "period", "duration", "avgtime", "samplingrate", "averagingminutes"}

// namedInterval returns the interval that a field such as `resolution` states in all records, or 0 if there is none.
func namedInterval(f *sample.Field) time.Duration {
	if !slices.Contains(intervalNames, f.Folded()) || len(f.Texts) != 1 {
		return 0
	}
	text := f.Texts[0]
	if t, err := time.Parse("15:04:05", text); err == nil {
		return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
	}
	unit := "min"
	if m := intervalText.FindStringSubmatch(text); m != nil {
		text, unit = m[1], strings.ToLower(m[2])
	} else if !strings.HasSuffix(f.Folded(), "minutes") {
		switch strings.ToLower(text) {
		case "hourly", "hour":
			return time.Hour
		case "daily", "day":
			return longestAveraging
		}
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	d := time.Duration(n) * map[byte]time.Duration{'h': time.Hour, 'm': time.Minute, 's': time.Second}[unit[0]]
	if d < time.Minute || d%time.Minute != 0 {
		return 0
	}
	return d
}

// spacing returns the most frequent time between consecutive records of a station, and how often it occurs. Only times
// from a minute to a day count. If none occurs at least twice, spacing returns 0 and 0.
func (r *reading) spacing() (time.Duration, int) {
	times := make(map[string][]time.Time)
	for i, at := range r.clock.times {
		station := ""
		if id := r.station.id; id != nil {
			if j := slices.Index(id.Records, r.clock.field.Records[i]); j >= 0 {
				station = id.All[j]
			}
		}
		times[station] = append(times[station], at)
	}
	counts := make(map[time.Duration]int)
	for _, all := range times {
		slices.SortFunc(all, time.Time.Compare)
		all = slices.Compact(all)
		for i := 1; i < len(all); i++ {
			counts[all[i].Sub(all[i-1]).Round(time.Minute)]++
		}
	}
	var best time.Duration
	for d, n := range counts {
		if d >= time.Minute && d <= longestAveraging && (n > counts[best] || n == counts[best] && d < best) {
			best = d
		}
	}
	if counts[best] < 2 {
		return 0, 0
	}
	return best, counts[best]
}
