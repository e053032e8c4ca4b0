// Package scales adds indices of other countries (see package scale) to the answers about the air. It reads the hourly
// means that some of these indices need.
package scales

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/scale"
)

// Record is the record of a place for which an index on another scale is computed.
type Record struct {
	Figures *aggregate.Figures
	Means   Means      // hourly means of the place; nil if they are not needed or unknown
	Day     schema.Day // of a record for a day
	Daily   bool       // whether the record is for a day
	Short   bool       // whether the reply names the method and the source elsewhere
	Failed  bool       // whether the means could not be read
}

// AppendTo adds the fields "aqi_uncapped" and "scale" to the JSON object in b.
func (r *Record) AppendTo(b []byte, s scale.Scale) ([]byte, error) {
	uncapped, on := r.On(s)
	text, err := json.Marshal(on)
	if err != nil {
		return nil, fmt.Errorf("rendering the scale %q: %w", s.ID(), err)
	}
	b = append(b[:len(b)-1], `,"aqi_uncapped":`...)
	b = strconv.AppendInt(b, int64(*uncapped), 10)
	b = append(b, `,"scale":`...)
	return append(append(b, text...), '}'), nil
}

// On returns the index of the record on India's scale without the limit of 500, and its index on the scale s.
func (r *Record) On(s scale.Scale) (uncapped *int, on *air.Scale) {
	p := r.place()
	return new(scale.Uncapped(p)), new(r.scale(s, p))
}

// place returns the figures of the record. It omits concentrations that gap filling has copied from another place.
func (r *Record) place() *scale.Place {
	f := *r.Figures
	f.ClearFilled()
	p := scale.Place{Day: r.Daily, DailyMean: f.Daily, AQI: int(f.AQI), Dominant: f.Dominant}
	for i, of := range air.Pollutants {
		if p.Mean[i] = math.NaN(); f.Concentration(of).Known() {
			p.Mean[i] = float64(f.Concentration(of)) / 100
		}
	}
	if r.Means != nil {
		at := int64(f.At)
		if r.Daily {
			at = r.Day.End().Unix()
		}
		p.Hours = r.Means.window(at)
	}
	return &p
}

// unavailable is the reason of a missing index if the hourly means could not be read.
const unavailable = "The hourly means are unavailable at the moment."

func (r *Record) scale(s scale.Scale, p *scale.Place) air.Scale {
	got := s.Of(p)
	out := air.Scale{ID: s.ID(), Index: schema.Unknown, Pollutants: make(map[string]air.ScalePart, len(got.Parts)), Reason: got.Reason}
	for _, part := range got.Parts {
		out.Pollutants[part.Pollutant.String()] = air.ScalePart{
			Index: figure(part.Index), Category: part.Category.Name, Value: figure(part.Value), Unit: part.Unit, Averaging: part.Averaging,
		}
	}
	if got.Known {
		dominant := got.Dominant.Label()
		out.Index, out.Category, out.Dominant = figure(got.Index), &got.Category.Name, &dominant
		if got.Category.Color != "" {
			out.Color = &got.Category.Color
		}
	} else if r.Failed {
		out.Reason = unavailable
	}
	if !r.Short {
		out.Name, out.Method, out.Source = s.Name(), s.Method(), s.Source()
	}
	return out
}

func figure(v float64) schema.Figure { return schema.Figure(aggregate.HalfUp(v * 100)) }

// RangeOf returns the id, name, method and source of a scale, for a reply with many records.
func RangeOf(s scale.Scale) *air.RangeScale {
	return &air.RangeScale{ID: s.ID(), Name: s.Name(), Method: s.Method(), Source: s.Source()}
}

// AppendRange adds the field "scale" to the JSON object in b, which is the reply to a query for a range of days.
func AppendRange(b []byte, s scale.Scale) ([]byte, error) {
	text, err := json.Marshal(RangeOf(s))
	if err != nil {
		return nil, fmt.Errorf("rendering the scale %q: %w", s.ID(), err)
	}
	b = append(b[:len(b)-1], `,"scale":`...)
	return append(append(b, text...), '}'), nil
}
