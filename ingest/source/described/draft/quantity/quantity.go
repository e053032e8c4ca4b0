// Package quantity derives parameters and units from the names of fields.
package quantity

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"vayu/ingest/source/described/draft/sample"
	"vayu/schema/parameter"
)

// Quantity is the meaning of a field's values, derived from its name.
type Quantity struct {
	Parameter parameter.Parameter
	Unit      string // in the spelling of descriptions; "" if the name has none
	Averaging time.Duration
	Extra     []string // other words of the name, such as corrected
	// Doubtful means that the name is p1 or p2, which networks use for different particles. Doubt explains why the
	// parameter is only a guess.
	Doubtful bool
	Doubt    string
}

// unitWords maps units in names of fields, without separators, to their spelling in descriptions.
var unitWords = map[string]string{
	"ugm3": "µg/m³", "µgm3": "µg/m³", "μgm3": "µg/m³", "µgm³": "µg/m³", "μgm³": "µg/m³", "ugm": "µg/m³", "ug": "µg/m³", "mgm3": "mg/m³", "mgm³": "mg/m³", "mg": "mg/m³", "ngm3": "ng/m3",
	"ppb": "ppb", "ppm": "ppm", "ppt": "ppt", "c": "°C", "degc": "°C", "°c": "°C", "celsius": "°C", "f": "°F", "degf": "°F", "°f": "°F", "fahrenheit": "°F", "k": "K", "kelvin": "K",
	"pct": "%", "percent": "%", "perc": "%", "%": "%", "hpa": "hPa", "mbar": "mbar", "pa": "Pa", "kpa": "kPa", "mmhg": "mmHg", "ms": "m/s", "mps": "m/s", "kmh": "km/h", "kph": "km/h",
	"kmph": "km/h", "mph": "mph", "deg": "deg", "degrees": "deg", "mm": "mm", "wm2": "W/m²", "wm²": "W/m²",
}

// plainWords are words in names of fields that do not change the meaning of the values.
var plainWords = []string{
	"avg", "average", "mean", "value", "val", "conc", "concentration", "raw", "level", "reading", "current", "live", "now", "last", "latest", "measured", "sensor", "outdoor", "ambient", "air", "mass", "total", "data",
}

// extraWords are words in names of fields whose values were corrected or computed. Of two fields with the same
// parameter, the draft uses the one with fewer such words.
var extraWords = []string{"corrected", "corr", "compensated", "calibrated", "cal", "atm", "cf1", "cf", "alt", "a", "b", "est", "estimated", "filtered", "epa", "nowcast"}

// otherWords are words in names of fields that do not have measured values.
var otherWords = []string{
	"aqi", "iaqi", "index", "subindex", "idx", "max", "min", "std", "sd", "stddev", "count", "n", "median", "p95", "flag", "flags", "qc", "status", "quality", "qual", "error", "threshold", "limit",
	"id", "unit", "units", "name", "code", "valid", "validity", "category", "color", "colour", "rank", "serial", "coverage", "rssi", "version", "ledmode", "trend", "samples", "um", "um3",
}

// windowWord matches a word that states an averaging interval.
var windowWord = regexp.MustCompile(`^(\d{1,2})(h|hr|hour|hours|min|mins|minute|minutes|m)$`)

// pmName matches a name of PM2.5, PM10, PM4 or PM1, which may have separators.
var pmName = regexp.MustCompile(`(?i)pm[ _.-]?(2[._p,-]?5|10[._]0|1[._]0|10|1|4[._]0)([^0-9]|$)`)

// wordBreak matches the boundary between two words in camel case.
var wordBreak = regexp.MustCompile(`([a-z])([A-Z])`)

// Words splits the name of a field into words in lower case.
func Words(name string) []string {
	name = pmName.ReplaceAllStringFunc(name, func(text string) string {
		m := pmName.FindStringSubmatch(text)
		number := strings.NewReplacer(".0", "", "_0", "", ".", "", "_", "", "p", "", ",", "", "-", "").Replace(m[1])
		return " pm" + number + " " + m[2]
	})
	name = wordBreak.ReplaceAllString(name, "$1 $2")
	return strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '%' && c != '°' && c != '³' && c != '²'
	})
}

// leastName is the length in bytes that the name of a parameter needs to be recognised among any other words. Shorter
// names, such as "at" or "no", are also ordinary words. They are recognised only among units and plainWords.
const leastName = 3

// shortNames maps short names of parameters, as devices use them, to names that [parameter.Parse] knows.
var shortNames = map[string]string{
	"hum": "humidity", "humi": "humidity", "press": "pressure", "pres": "pressure", "baro": "pressure", "wspd": "wind_speed", "windspeed": "wind_speed", "wdir": "wind_direction", "winddir": "wind_direction",
}

// parameterOf does the same as [parameter.Parse], but also accepts the names in shortNames.
func parameterOf(name string) (parameter.Parameter, bool) {
	if p, ok := parameter.Parse(name); ok {
		return p, true
	}
	return parameter.Parse(shortNames[sample.Fold(name)])
}

// Parse derives the meaning of a field from its name. `ok` is false if the name is not that of a measured value.
func Parse(name string) (q Quantity, ok bool) {
	if p, known := parameterOf(name); known {
		return Quantity{Parameter: p, Doubtful: doubtful(name)}, true
	}
	all := Words(name)
	var rest []string
	for size := min(3, len(all)); size > 0 && !ok; size-- {
		for i := 0; i+size <= len(all) && !ok; i++ {
			text := strings.Join(all[i:i+size], " ")
			p, known := parameterOf(text)
			if !known {
				continue
			}
			q.Parameter, q.Doubtful, ok = p, doubtful(text), true
			rest = slices.Concat(all[:i], all[i+size:])
			if len(text) < leastName && !onlyUnits(rest) {
				q, ok = Quantity{}, false
			}
		}
	}
	if !ok {
		return Quantity{}, false
	}
	fine := q.readRest(rest)
	return q, fine
}

// onlyUnits reports whether all words are units or plainWords.
func onlyUnits(all []string) bool {
	for _, word := range all {
		if unitWords[word] == "" && !slices.Contains(plainWords, word) && word != "m3" {
			return false
		}
	}
	return true
}

// readRest interprets `rest`, the words of a field name other than the parameter. It returns false if these words mean
// that the field has no measured values of the parameter.
func (q *Quantity) readRest(rest []string) bool {
	if slices.Contains(rest, "raw") && (q.Parameter.Group() == parameter.Organic || q.Parameter.ID() == "nox") {
		return false // the raw signal of the sensor is not a concentration
	}
	if unit := unitWords[strings.Join(rest, "")]; unit != "" {
		q.Unit = unit
		return q.fits()
	}
	for i, word := range rest {
		switch m := windowWord.FindStringSubmatch(word); {
		case slices.Contains(otherWords, word):
			return false
		case m != nil:
			n, _ := strconv.Atoi(m[1]) // one or two digits, so this cannot fail
			unit := time.Minute
			if strings.HasPrefix(m[2], "h") {
				unit = time.Hour
			}
			q.Averaging = time.Duration(n) * unit
		case word == "hourly":
			q.Averaging = time.Hour
		case word == "daily":
			q.Averaging = 24 * time.Hour
		case slices.Contains(plainWords, word), word == "m3" && i > 0:
		case unitWords[word] != "" && q.Unit == "":
			q.Unit = unitWords[word]
			if !q.fits() {
				q.Unit = ""
				q.Extra = append(q.Extra, word)
			}
		default:
			q.Extra = append(q.Extra, word)
			if !slices.Contains(extraWords, word) {
				q.Extra = append(q.Extra, word) // an unknown word counts twice, because a field with a known word is preferred
			}
		}
	}
	return true
}

// fits reports whether the parameter can have the unit.
func (q *Quantity) fits() bool {
	_, ok := q.Parameter.Convert(1, q.Unit)
	return ok
}

// Unit returns a unit in the spelling of descriptions, or "" if the unit is unknown or the parameter cannot have it.
func Unit(p parameter.Parameter, text string) string {
	if _, ok := p.Convert(1, text); ok {
		return text
	}
	folded := strings.NewReplacer(" ", "", "/", "", "^", "", "_", "", "-", "", "(", "", ")", "", ".", "").Replace(strings.ToLower(text))
	for _, long := range [][2]string{
		{"microgramspercubicmeter", "ugm3"}, {"microgrampercubicmeter", "ugm3"}, {"microgramspercubicmetre", "ugm3"}, {"microgm3", "ugm3"}, {"partsperbillion", "ppb"}, {"partspermillion", "ppm"},
		{"milligramspercubicmeter", "mgm3"}, {"degreescelsius", "celsius"}, {"degreecelsius", "celsius"}, {"percentage", "percent"}, {"hectopascal", "hpa"}, {"meterspersecond", "ms"},
	} {
		folded = strings.ReplaceAll(folded, long[0], long[1])
	}
	unit := unitWords[folded]
	if _, ok := p.Convert(1, unit); !ok {
		return ""
	}
	return unit
}
