package forecast

import (
	"testing"

	"vayu/schema"
	"vayu/schema/air"
)

func TestChance(t *testing.T) {
	t.Parallel()
	day, err := schema.ParseDay("2026-11-21")
	if err != nil {
		t.Fatal(err)
	}
	p := &Place{days: []air.ForecastDay{
		{Date: "2026-11-21", Categories: &air.CategoryChances{Moderate: 0.1, Poor: 0.2, VeryPoor: 0.4, Severe: 0.3}},
		{Date: "2026-11-22"},
	}}
	for name, row := range map[string]struct {
		place    *Place
		category string
		day      schema.Day
		want     float64
		ok       bool
	}{
		"or worse":         {p, "Very Poor", day, 0.7, true},
		"worst":            {p, "Severe", day, 0.3, true},
		"without AQI":      {p, "Severe", day + 1, 0, false},
		"day too far":      {p, "Severe", day + 2, 0, false},
		"unknown category": {p, "Terrible", day, 0, false},
		"no forecast":      {nil, "Severe", day, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := row.place.Chance(row.category, row.day); got != row.want || ok != row.ok {
				t.Errorf("got %v, %t, want %v, %t", got, ok, row.want, row.ok)
			}
		})
	}
}
