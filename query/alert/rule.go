package alert

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// metric is the quantity that a condition compares with a limit, such as the AQI or a concentration.
type metric string

// These are the metrics besides the pollutants. The metric of a pollutant is the pollutant's field name in replies.
const (
	metricAQI      metric = "aqi"
	metricCategory metric = "category"  // of the AQI
	metricBand     metric = "grap_band" // 0 to 4; a band of the AQI, not a stage that CAQM has invoked
	metricAge      metric = "age"       // seconds since the last reading
	metricForecast metric = "forecast"  // probability, 0 to 1
)

// metrics lists all metrics, in the documented order.
func metrics() []metric {
	all := []metric{metricAQI}
	for _, p := range air.RecordPollutants {
		all = append(all, metric(p.String()))
	}
	return append(all, metricCategory, metricBand, metricAge, metricForecast)
}

// bandEdges has the largest AQI of each of the bands 0 (none) to III of the Graded Response Action Plan for Delhi
// (CAQM). The SQL function grap_band has the same limits.
var bandEdges = [...]int{200, 300, 400, 450}

// edges returns the largest AQI of each level (category or band) but the last.
func (m metric) edges() (edges []int) {
	if m == metricBand {
		return bandEdges[:]
	}
	for _, category := range naqi.Categories() {
		edge, _ := naqi.Edge(category)
		edges = append(edges, edge)
	}
	return edges[:len(edges)-1]
}

// direction states which changes of the level (category or band) an alert announces.
type direction string

// These are the directions of a condition "change".
const (
	anyChange direction = "any"
	worse     direction = "worse"
	better    direction = "better"
)

var directions = []direction{anyChange, worse, better}

// rule is a condition in the form for evaluation. A condition on the category or the band becomes a condition on the
// AQI.
type rule struct {
	metric     metric
	pollutant  int // index in Figures.Concentrations; -1 for none
	under      bool
	limit      float64
	hysteresis float64
	direction  direction // of a condition "change"; "" for none
	edges      []int     // largest AQI of each level but the last, for a condition "change"
	minimum    time.Duration
	quiet      *quietHours
	category   string // of a condition on a forecast, with `day` in days after today
	day        int
}

// changes reports whether the condition is "change".
func (r *rule) changes() bool { return r.direction != "" }

// Chances returns the probability that the AQI of a place is in a category or a worse one, `day` days after today. It
// returns false if there is no such forecast. Calls must not overlap.
type Chances func(category string, day int) (float64, bool)

// Observation has the figures of a place in one hour, and its forecasts.
type Observation struct {
	aggregate.Figures

	Chances Chances // nil for no forecasts
}

// value returns the value of the metric in f. It returns false if the value is unknown, or is a concentration that gap
// filling has copied from another place.
func (r *rule) value(f *Observation, now time.Time) (float64, bool) {
	switch {
	case r.metric == metricForecast:
		if f.Chances == nil {
			return 0, false
		}
		return f.Chances(r.category, r.day)
	case r.metric == metricAge:
		return max(now.Sub(aggregate.Instant(f.Updated)).Seconds(), 0), f.Updated > 0
	case r.pollutant >= 0:
		amount := f.Concentrations[r.pollutant]
		return float64(amount) / hundredths, amount.Known() && f.GapFilled&(1<<r.pollutant) == 0
	default:
		return float64(f.AQI), f.AQI >= 0
	}
}

// hundredths is the number of hundredths in one unit of a concentration. A [schema.Figure] counts hundredths.
const hundredths = 100

// met reports whether a value meets the condition.
func (r *rule) met(v float64) bool {
	if r.under {
		return v < r.limit
	}
	return v > r.limit
}

// cleared reports whether a value is far enough on the other side of the limit to resolve a triggered alert.
func (r *rule) cleared(v float64) bool {
	if r.under {
		return v >= r.limit+r.hysteresis
	}
	return v <= r.limit-r.hysteresis
}

// correctable reports whether the condition is about the figures of an hour, which can be corrected later.
func (r *rule) correctable() bool { return r.metric != metricAge && r.metric != metricForecast }

// ofAQI reports whether the rule is about the AQI of an hour, and not about a pollutant, a forecast or the age of data.
func (r *rule) ofAQI() bool {
	return r.pollutant < 0 && r.metric != metricAge && r.metric != metricForecast
}

// level returns the level (category or band) of an AQI.
func (r *rule) level(aqi float64) int {
	n := 0
	for _, edge := range r.edges {
		if aqi > float64(edge) {
			n++
		}
	}
	return n
}

// next returns the level at the AQI `aqi` if the last level was `level`. It returns another level only if the AQI is
// beyond the edge between them by more than the hysteresis.
func (r *rule) next(level int, aqi float64) int {
	if up := r.level(aqi - r.hysteresis); up > level {
		return up
	}
	if down := r.level(aqi + r.hysteresis); down < level {
		return down
	}
	return level
}

// announces reports whether the alert announces a change from the level `before` to the level `after`.
func (r *rule) announces(before, after int) bool {
	return r.direction == anyChange || (r.direction == worse) == (after > before)
}

// levelValue returns a level as clients see it: the name of a category, or the number of a band.
func (r *rule) levelValue(level int) any {
	if r.metric == metricBand {
		return level
	}
	return naqi.Categories()[level]
}

// quietHours is a daily period without events, in minutes of the Indian day; `to` is excluded. It may span midnight.
type quietHours struct{ from, to int }

func (q *quietHours) has(now time.Time) bool {
	if q == nil {
		return false
	}
	local := now.In(schema.India)
	minute := local.Hour()*60 + local.Minute()
	if q.from < q.to {
		return minute >= q.from && minute < q.to
	}
	return minute >= q.from || minute < q.to
}

// These are the limits of definitions.
const (
	maxConcentration = 10_000.0       // far above any concentration, in µg/m³ or mg/m³
	minAge           = 3600           // an hour, because figures are of hours
	maxAge           = 30 * 24 * 3600 // 30 days
	maxInterval      = 30 * 24 * 3600 // 30 days
	maxDay           = 3              // days of a forecast
)

// newRule checks a definition and returns its rule. It adds the faults to f, each with its field.
func newRule(f *faults, d *Definition) rule {
	r := rule{metric: metric(d.Condition.Metric), pollutant: -1, hysteresis: d.Hysteresis, minimum: time.Duration(d.MinimumInterval) * time.Second}
	for i, p := range air.RecordPollutants {
		if string(r.metric) == p.String() {
			r.pollutant = i
		}
	}
	if d.MinimumInterval < 0 || d.MinimumInterval > maxInterval {
		f.invalid("minimum_interval", "The minimum interval must be between 0 and "+strconv.Itoa(maxInterval)+" seconds (30 days).")
	}
	r.quiet = f.quietHours(d.QuietHours)
	if !slices.Contains(metrics(), r.metric) {
		f.invalid("condition.metric", "The metrics are "+schema.Join(metrics(), ", ")+".")
		return r
	}
	f.limit(&r, &d.Condition)
	f.forecast(&r, &d.Condition)
	if span := r.span(); !f.about("condition") && (d.Hysteresis < 0 || d.Hysteresis > span) {
		f.invalid("hysteresis", "The hysteresis of this condition must be between 0 and "+number(span)+".")
	}
	return r
}

// limit sets the limit of a rule, or for a condition "change" its direction and edges.
func (f *faults) limit(r *rule, c *air.AlertCondition) {
	field, raw := "condition.over", c.Over
	if c.Under != nil {
		field, raw, r.under = "condition.under", c.Under, true
	}
	given := 0
	for _, there := range [...]bool{c.Over != nil, c.Under != nil, c.Change != ""} {
		if there {
			given++
		}
	}
	switch {
	case given != 1:
		f.Add("condition", "A condition has exactly one of over, under and change.")
	case c.Change != "" && r.metric != metricCategory && r.metric != metricBand:
		f.invalid("condition.change", "Only category and grap_band have change; give over or under.")
	case c.Change != "" && !slices.Contains(directions, direction(c.Change)):
		f.invalid("condition.change", "A change is "+schema.Join(directions, ", ")+".")
	case c.Change != "":
		r.direction, r.edges = direction(c.Change), r.metric.edges()
	case r.metric == metricCategory:
		f.categoryLimit(r, field, raw)
	default:
		f.numberLimit(r, field, raw)
	}
}

// categoryLimit sets the limit in AQI of a condition on the category.
func (f *faults) categoryLimit(r *rule, field string, raw json.RawMessage) {
	var name string
	categories := naqi.Categories()
	if json.Unmarshal(raw, &name) != nil {
		f.Add(field, "The limit must be the name of a category.")
		return
	}
	i := slices.Index(categories, name)
	last := len(categories) - 1
	switch {
	case i < 0:
		f.invalid(field, "The categories are "+strings.Join(categories, ", ")+".")
	case r.under && i == 0 || !r.under && i == last:
		f.invalid(field, "There is no category beyond "+name+", so the condition could never be met.")
	case r.under:
		r.limit = float64(r.metric.edges()[i-1] + 1)
	default:
		r.limit = float64(r.metric.edges()[i])
	}
}

// numberLimit sets a limit that is a number. It converts the number of a band to an AQI.
func (f *faults) numberLimit(r *rule, field string, raw json.RawMessage) {
	if json.Unmarshal(raw, &r.limit) != nil {
		f.Add(field, "The limit must be a number.")
		return
	}
	low, high := r.possible()
	if r.limit < low || r.limit > high {
		f.invalid(field, "The limit must be between "+number(low)+" and "+number(high)+".")
		return
	}
	if r.metric != metricBand {
		return
	}
	band := int(r.limit)
	switch {
	case float64(band) != r.limit:
		f.invalid(field, "A band is a whole number from 0 to 4.")
	case r.under:
		r.limit = float64(bandEdges[band-1] + 1)
	default:
		r.limit = float64(bandEdges[band])
	}
}

// possible returns the smallest and the largest allowed limit. With these, a condition is neither always nor never met.
func (r *rule) possible() (low, high float64) {
	const smallest = 0.01
	switch {
	case r.metric == metricAge:
		return minAge, maxAge
	case r.metric == metricForecast && r.under:
		return smallest, 1
	case r.metric == metricForecast:
		return 0, 1 - smallest
	case r.metric == metricBand && r.under:
		return 1, float64(len(bandEdges))
	case r.metric == metricBand:
		return 0, float64(len(bandEdges) - 1)
	case r.pollutant >= 0 && r.under:
		return smallest, maxConcentration
	case r.pollutant >= 0:
		return 0, maxConcentration
	case r.under:
		return 1, naqi.MaxIndex
	}
	return 0, naqi.MaxIndex - 1
}

// span returns the largest possible hysteresis. With a larger one, the alert would never be resolved.
func (r *rule) span() float64 {
	const narrowest = 50 // the category Good has 50
	switch {
	case r.changes():
		return narrowest
	case r.under && r.ofAQI():
		return naqi.MaxIndex - r.limit
	case r.under && r.metric == metricForecast:
		return 1 - r.limit
	case r.under:
		return maxConcentration
	}
	return max(r.limit, 0)
}

// forecast sets the category and the day of a condition on a forecast.
func (f *faults) forecast(r *rule, c *air.AlertCondition) {
	if r.metric != metricForecast {
		if c.Category != "" {
			f.invalid("condition.category", "Only the metric forecast has a category here.")
		}
		if c.Day != 0 {
			f.invalid("condition.day", "Only the metric forecast has a day.")
		}
		return
	}
	r.category, r.day = c.Category, c.Day
	if categories := naqi.Categories(); !slices.Contains(categories[1:], c.Category) {
		f.invalid("condition.category", "The category is one of "+strings.Join(categories[1:], ", ")+".")
	}
	if c.Day < 1 || c.Day > maxDay {
		f.invalid("condition.day", "The day is 1 (tomorrow) to 3.")
	}
}

// quietHours parses quiet hours; nil for none.
func (f *faults) quietHours(q *air.AlertQuietHours) *quietHours {
	if q == nil {
		return nil
	}
	out := &quietHours{f.clock("quiet_hours.from", q.From), f.clock("quiet_hours.to", q.To)}
	if !f.about("quiet_hours") && out.from == out.to {
		f.invalid("quiet_hours.to", "Quiet hours end at another time than they begin; pause the alert for the whole day.")
	}
	return out
}

// clock parses a time of day, HH:MM, and returns the minute of the day.
func (f *faults) clock(field, text string) int {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		f.invalid(field, "A time of day has the form HH:MM, in Indian time.")
	}
	return t.Hour()*60 + t.Minute()
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
