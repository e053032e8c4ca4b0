package alert

import (
	"fmt"
	"strings"
	"time"

	"vayu/query/aggregate"
	"vayu/query/alert/wording"
	"vayu/schema"
	"vayu/schema/advice"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// Data returns the data of the event of `step`. PM is in hundredths of µg/m³. `f` is nil if the place has no figures.
func (a *Alert) Data(step *Step, f *aggregate.Figures, now time.Time) air.AlertData {
	d := air.AlertData{
		AlertID: a.ID, Name: a.Name, State: stateOK, Reason: step.Reason, Place: a.Place.AlertPlace, Condition: a.Condition,
		Value: step.value, Previous: step.previous, PM25: schema.Unknown, PM10: schema.Unknown, At: schema.FormatTime(now), Language: a.Language,
	}
	if step.Event == schema.EventAlertTriggered {
		d.State = stateTriggered
	}
	if f != nil && f.At > 0 {
		hour, updated := schema.FormatTime(aggregate.Instant(f.At)), schema.FormatTime(aggregate.Instant(f.Updated))
		d.Hour, d.Updated, d.Stale = &hour, &updated, f.Stale(now)
		d.PM25, d.PM10 = f.Concentrations[air.PM25-1], f.Concentrations[air.PM10-1]
	}
	language := advice.Language(a.Language)
	if f != nil && f.At > 0 && f.AQI >= 0 {
		aqi, category, dominant := int(f.AQI), naqi.Category(int(f.AQI)), f.Dominant.Label()
		d.AQI, d.Category, d.Dominant = &aqi, &category, &dominant
		if text, ok := advice.Of(category, language); ok {
			d.Advice = &air.AlertAdvice{Statement: text.Statement, General: text.General}
			for _, g := range text.Groups {
				d.Advice.Groups = append(d.Advice.Groups, air.AlertGroupAdvice{Group: g.Group, Text: g.Text})
			}
		}
	}
	d.Message = a.message(&d, language)
	return d
}

// message returns a sentence about an event, in the language of the alert.
func (a *Alert) message(d *air.AlertData, language advice.Language) string {
	p, place := wording.Of(language), wording.Place(a.Place.Name, language)
	var b strings.Builder
	if d.Value == nil {
		fmt.Fprintf(&b, p.Unknown, place)
		return b.String() + p.Reasons[d.Reason]
	}
	fmt.Fprintf(&b, p.Is, place, a.subject(p, language), a.text(d.Value, language))
	if d.Category != nil && a.rule.metric == metricAQI {
		b.WriteString(" (" + nameOf(*d.Category, language) + ")")
	}
	switch {
	case d.Reason != air.AlertCrossed:
	case d.Previous != nil:
		fmt.Fprintf(&b, p.Changed, a.text(d.Previous, language))
	case a.Condition.Under != nil:
		fmt.Fprintf(&b, p.Under, a.limitText(a.Condition.Under, language))
	default:
		fmt.Fprintf(&b, p.Over, a.limitText(a.Condition.Over, language))
	}
	return b.String() + p.Reasons[d.Reason]
}

// subject returns the name of the alert's metric for use in a sentence of the given language.
func (a *Alert) subject(p wording.Phrases, language advice.Language) string {
	switch a.rule.metric {
	case metricAge:
		return p.Age
	case metricBand:
		return p.Band
	case metricForecast:
		return fmt.Sprintf(p.Forecast, nameOf(a.rule.category, language))
	case metricAQI, metricCategory:
		return "AQI"
	}
	return air.RecordPollutants[a.rule.pollutant].Label()
}

// text formats a value of the alert's metric: a number with its unit, or the name of a category.
func (a *Alert) text(value any, language advice.Language) string {
	switch v := value.(type) {
	case string:
		return nameOf(v, language)
	case float64:
		text := number(v)
		if a.rule.pollutant >= 0 {
			text += " " + air.RecordPollutants[a.rule.pollutant].Unit()
		}
		return text
	}
	return fmt.Sprint(value)
}

// limitText formats the limit of a condition. `raw` is the limit as JSON: a number, or the name of a category.
func (a *Alert) limitText(raw []byte, language advice.Language) string {
	text := string(raw)
	if strings.HasPrefix(text, `"`) {
		return nameOf(strings.Trim(text, `"`), language)
	}
	if a.rule.pollutant >= 0 {
		text += " " + air.RecordPollutants[a.rule.pollutant].Unit()
	}
	return text
}

// nameOf returns the name of a category in a language.
func nameOf(category string, language advice.Language) string {
	if text, ok := advice.Of(category, language); ok {
		return text.Name
	}
	return category
}
