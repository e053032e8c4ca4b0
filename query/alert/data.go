package alert

import (
	"fmt"
	"strings"
	"time"

	"vayu/query/rollup"
	"vayu/schema"
	"vayu/schema/advice"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// Data returns the data of the event of a step. f may be nil, if nothing is known about the place.
func (a *Alert) Data(step *Step, f *rollup.Figures, now time.Time) air.AlertData {
	d := air.AlertData{
		AlertID: a.ID, Name: a.Name, State: stateOK, Reason: step.Reason, Place: a.Place.AlertPlace, Condition: a.Condition,
		Value: step.value, Previous: step.previous, PM25: schema.Unknown, PM10: schema.Unknown, At: schema.FormatTime(now), Language: a.Language,
	}
	if step.Event == schema.EventAlertTriggered {
		d.State = stateTriggered
	}
	if f != nil && f.At > 0 {
		hour, updated := schema.FormatTime(rollup.Instant(f.At)), schema.FormatTime(rollup.Instant(f.Updated))
		d.Hour, d.Updated, d.Stale = &hour, &updated, now.Sub(rollup.Instant(f.Updated)) > rollup.StaleAfter
		d.PM25, d.PM10 = f.Amount[air.PM25-1], f.Amount[air.PM10-1]
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

// phrases has the parts of messages in one language.
type phrases struct {
	is, unknown, over, under, changed, age, forecast, band string
	reasons                                                map[air.AlertReason]string
}

// phrasesOf returns the parts of messages in a language.
func phrasesOf(language advice.Language) phrases {
	if language == advice.Hindi {
		return phrases{
			is: "%[1]s: %[2]s %[3]s है", unknown: "%s: अभी कोई आँकड़ा नहीं", over: ", सीमा %s से ऊपर", under: ", सीमा %s से नीचे", changed: ", पहले %s",
			age: "आख़िरी माप की आयु (सेकंड)", forecast: "“%s” या उससे ख़राब होने की संभावना", band: "GRAP का दायरा (AQI के अनुसार)",
			reasons: map[air.AlertReason]string{
				air.AlertRecovered: "। चेतावनी समाप्त: शर्त अब पूरी नहीं होती।", air.AlertCorrected: "। चेतावनी समाप्त: आँकड़े सुधारे गए।",
				air.AlertEdited: "। चेतावनी समाप्त: अलर्ट बदला गया।", air.AlertPaused: "। चेतावनी समाप्त: अलर्ट रोका गया।",
				air.AlertRemoved: "। चेतावनी समाप्त: अलर्ट हटाया गया।", air.AlertTest: "। यह एक परीक्षण है।", air.AlertCrossed: "।",
			},
		}
	}
	return phrases{
		is: "%[1]s: %[2]s is %[3]s", unknown: "%s: no figures", over: ", over the limit of %s", under: ", under the limit of %s", changed: ", before it was %s",
		age: "the age of the last reading in seconds", forecast: "the probability of %s or worse", band: "the GRAP band by AQI",
		reasons: map[air.AlertReason]string{
			air.AlertRecovered: ". Resolved: the condition is not met any more.", air.AlertCorrected: ". Resolved: the figures were corrected.",
			air.AlertEdited: ". Resolved: the alert was changed.", air.AlertPaused: ". Resolved: the alert was paused.",
			air.AlertRemoved: ". Resolved: the alert was deleted.", air.AlertTest: ". This is a test.", air.AlertCrossed: ".",
		},
	}
}

// message returns a sentence about an event, in the language of the alert.
func (a *Alert) message(d *air.AlertData, language advice.Language) string {
	p := phrasesOf(language)
	var b strings.Builder
	if d.Value == nil {
		fmt.Fprintf(&b, p.unknown, a.Place.Name)
		return b.String() + p.reasons[d.Reason]
	}
	fmt.Fprintf(&b, p.is, a.Place.Name, a.subject(p, language), a.text(d.Value, language))
	if d.Category != nil && a.rule.metric == metricAQI {
		b.WriteString(" (" + nameOf(*d.Category, language) + ")")
	}
	switch {
	case d.Reason != air.AlertCrossed:
	case d.Previous != nil:
		fmt.Fprintf(&b, p.changed, a.text(d.Previous, language))
	case a.Condition.Under != nil:
		fmt.Fprintf(&b, p.under, a.limitText(a.Condition.Under, language))
	default:
		fmt.Fprintf(&b, p.over, a.limitText(a.Condition.Over, language))
	}
	return b.String() + p.reasons[d.Reason]
}

// subject returns the name of the metric in a sentence.
func (a *Alert) subject(p phrases, language advice.Language) string {
	switch a.rule.metric {
	case metricAge:
		return p.age
	case metricBand:
		return p.band
	case metricForecast:
		return fmt.Sprintf(p.forecast, nameOf(a.rule.category, language))
	case metricAQI, metricCategory:
		return "AQI"
	}
	return air.RecordPollutants[a.rule.pollutant].Label()
}

// text returns a value with its unit, or the name of a category.
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

// limitText returns the limit of a condition, which is a number or the name of a category as JSON.
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
