package draft

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/ingest/source/described/draft/note"
	"vayu/ingest/source/described/draft/sample"
)

// india is the time zone of networks whose times are in Indian time.
const india = "Asia/Kolkata"

// clock is the guess about the field with the time of a record, and about the form and meaning of the time.
type clock struct {
	field  *sample.Field
	format string
	also   []string // other layouts of the same length that fit all values, too
	times  []time.Time
	zone   guess // "" if the format has a zone
	begin  bool
	side   guess // begin or end: whether the times are starts or ends of intervals
	other  *sample.Field
}

// guess is a guessed value of a key in the description, with its certainty and the evidence for it.
type guess struct {
	value     string
	certainty note.Certainty
	evidence  string
}

// timeWords are words in names of fields. The higher their ranks, the likelier a field has the times of the readings.
var timeWords = []struct {
	word string
	rank int
}{
	{"created", -8}, {"updated", -3}, {"modified", -8}, {"lastseen", -1}, {"first", -8}, {"install", -8}, {"regist", -8}, {"since", -6}, {"ingest", -6}, {"calibrat", -8}, {"coverage", -8},
	{"sunrise", -9}, {"sunset", -9}, {"expire", -9}, {"next", -6}, {"received", -3}, {"server", -3},
	{"timestamp", 3}, {"datetime", 3}, {"measured", 3}, {"observed", 3}, {"sampled", 3}, {"recorded", 2}, {"time", 2}, {"date", 1}, {"hour", 2}, {"utc", 1}, {"last", -1},
}

// endWords are names of fields that have the end of an interval; beginWords are those for its start.
var (
	endWords   = []string{"to", "end", "until", "enddate", "todate", "endtime", "datetimeto", "dateto", "timeto", "intervalend", "periodend", "endat"}
	beginWords = []string{"from", "start", "begin", "startdate", "fromdate", "starttime", "datetimefrom", "datefrom", "timefrom", "intervalstart", "periodstart", "startat", "beginat"}
)

// side returns 1 if a name in the path of a field means the end of an interval, -1 if it means the start, and 0 if none
// means either. Of several such names, the last one in the path decides.
func side(f *sample.Field) int {
	for path := f.Path; path != ""; {
		at := strings.LastIndexByte(path, '.')
		word := sample.Fold(path[at+1:])
		if slices.Contains(endWords, word) {
			return 1
		}
		if slices.Contains(beginWords, word) {
			return -1
		}
		path = path[:max(at, 0)]
	}
	return 0
}

// sideless returns the path of a field, with "*" in place of each word that means a start or an end. The start field
// and the end field of one interval therefore have the same result.
func sideless(f *sample.Field) string {
	parts := strings.Split(f.Path, ".")
	for i, part := range parts {
		if word := sample.Fold(part); slices.Contains(endWords, word) || slices.Contains(beginWords, word) {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}

// rank rates how likely a field has the times of the readings. A larger result is more likely.
func rank(f *sample.Field) int {
	n := side(f) + 1
	name := f.Folded() + " " + sample.Fold(f.Parent())
	for _, w := range timeWords {
		if strings.Contains(name, w.word) {
			n += w.rank
		}
	}
	if strings.Contains(name, "local") {
		n--
	}
	if f.Filled()*2 < f.Present {
		n -= 4
	}
	return n
}

// findClock finds the field that has the times of the readings, and guesses the format and the meaning of the times.
func findClock(fields []*sample.Field, now time.Time) clock {
	var c clock
	best := -100
	for _, f := range fields {
		format, also := sample.TimeFormat(f.Texts)
		if format == "" || f.Path == "key" && format != "rfc3339" {
			continue
		}
		if r := rank(f); r > best {
			best = r
			c = clock{field: f, format: format, also: also}
		}
	}
	if c.field == nil {
		return c
	}
	for _, text := range c.field.All {
		c.times = append(c.times, sample.ParseTime(c.format, text))
	}
	c.findZone(now)
	c.findSide(fields, now)
	return c
}

func (c *clock) newest() time.Time { return slices.MaxFunc(c.times, time.Time.Compare) }

// needsZone reports whether the times of the records have no zone.
func (c *clock) needsZone() bool {
	switch c.format {
	case "rfc3339", "epoch", "epoch-ms":
		return false
	}
	return !strings.Contains(c.format, "-07") && !strings.Contains(c.format, "MST") && !strings.HasSuffix(c.format, "Z")
}

// fresh is the maximum age of the newest reading from which findZone guesses the time zone. For older readings, several
// time zones would be plausible.
const fresh = 3 * time.Hour

// findZone guesses the zone if the times have none.
func (c *clock) findZone(now time.Time) {
	if !c.needsZone() {
		return
	}
	name := sample.Fold(c.field.Path)
	age := now.Sub(c.newest())
	offset := 5*time.Hour + 30*time.Minute
	switch {
	case strings.Contains(name, "utc"), strings.Contains(name, "gmt"):
		c.zone = guess{"UTC", note.Found, "the name of the field says so"}
	case strings.HasSuffix(name, "ist"):
		c.zone = guess{india, note.Found, "the name of the field says so"}
	case age < -5*time.Minute && age+offset > -5*time.Minute:
		c.zone = guess{india, note.Found, fmt.Sprintf("in UTC the newest time, %s, would be in the future", c.newest().Format("15:04"))}
	case age > -5*time.Minute && age < fresh:
		c.zone = guess{"UTC", note.Guessed, fmt.Sprintf("in UTC the newest time is %s old, in Indian time %s", short(max(age, 0).Round(time.Minute)), short((age + offset).Round(time.Minute)))}
	case age-offset > -5*time.Minute && strings.Contains(name, "local"):
		c.zone = guess{india, note.Guessed, "the name of the field says local time"}
	default:
		c.zone = guess{fillIn, note.Unknown, "UTC or Asia/Kolkata? The times have no zone, and are too old to tell"}
	}
}

// findSide guesses whether the times are the starts or the ends of the averaging intervals.
func (c *clock) findSide(fields []*sample.Field, now time.Time) {
	switch s := side(c.field); {
	case s > 0:
		c.side = guess{"end", note.Found, "the name of the field says so"}
	case s < 0:
		c.side = guess{"begin", note.Found, "the name of the field says so"}
	case strings.Contains(c.field.Folded(), "hour"):
		c.side = guess{"begin", note.Guessed, "the name is that of an hour, which usually means its begin"}
	default:
		age := ""
		if since := now.Sub(c.newest()); !c.needsZone() && since.Abs() < 7*24*time.Hour {
			age = fmt.Sprintf("the newest time is %s old; ", short(since.Round(time.Minute)))
		}
		c.side = guess{"end", note.Guessed, age + "nothing says begin or end, and a mistake shifts all readings"}
	}
	c.begin = c.side.value == "begin"
	if side(c.field) == 0 {
		return
	}
	for _, f := range fields { // the field with the other end of the interval gives its length
		if format, _ := sample.TimeFormat(f.Texts); format == c.format && side(f) == -side(c.field) && len(f.All) == len(c.field.All) && sideless(f) == sideless(c.field) {
			c.other = f
		}
	}
}

// write writes the section `time`.
func (c *clock) write(w *note.Writer, a averaging) {
	w.Section("time", func() {
		if c.field == nil {
			w.Key("received", "true", note.Guessed, "no field has times: that of the reply counts")
			return
		}
		w.Key("field", c.field.Path, note.Found, "%s", c.field.Sample())
		certainty, more := note.Found, ""
		if len(c.also) > 0 {
			certainty, more = note.Guessed, "; or "+strings.Join(c.also, ", ")
		}
		w.Key("format", c.format, certainty, "all %d values have it%s", len(c.field.All), more)
		if c.zone.value != "" {
			w.Key("zone", c.zone.value, c.zone.certainty, "%s", c.zone.evidence)
		}
		if a.d > time.Minute || side(c.field) != 0 {
			w.Key("interval", c.side.value, c.side.certainty, "%s", c.side.evidence)
		}
	})
}
