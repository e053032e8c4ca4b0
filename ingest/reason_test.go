package ingest_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

func TestParseValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		value  float64
		reason ingest.Reason
	}{
		"12.5": {12.5, ingest.None}, " 7 ": {7, ingest.None}, "0": {0, ingest.None}, "1e2": {100, ingest.None}, ".5": {0.5, ingest.None},
		"": {0, ingest.MissingValue}, "-": {0, ingest.MissingValue}, "NA": {0, ingest.MissingValue}, "None": {0, ingest.MissingValue},
		"-999": {-999, ingest.MissingValue}, "-9999.0": {-9999, ingest.MissingValue}, "NaN": {0, ingest.MissingValue},
		"-3":    {-3, ingest.NegativeValue},
		"1e400": {0, ingest.BadNumber}, "Inf": {0, ingest.BadNumber}, "0x10": {0, ingest.BadNumber}, "1_000": {0, ingest.BadNumber},
		"12,5": {0, ingest.BadNumber}, "१२": {0, ingest.BadNumber}, "12 µg/m³": {0, ingest.BadNumber},
		"00000000000000000000000000000000000000000000001": {0, ingest.BadNumber},
	} {
		t.Run(strconv.Quote(text), func(t *testing.T) {
			if value, reason := ingest.ParseValue(text); value != want.value || reason != want.reason {
				t.Errorf("ParseValue(%q) = %v, %q, want %v, %q", text, value, reason, want.value, want.reason)
			}
		})
	}
}

func FuzzParseValue(f *testing.F) {
	for _, seed := range []string{"12.5", "", "NA", "-999", "1e400", "0x1p-2", "1_0", "१२", "nan", "+5", "-0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, reason := ingest.ParseValue(text)
		if reason == ingest.None && (math.IsNaN(value) || math.IsInf(value, 0) || value < 0) {
			t.Errorf("ParseValue(%q) accepts %v", text, value)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*air.Reading)
		want   ingest.Reason
	}{
		{"a fine reading", func(*air.Reading) {}, ingest.None},
		{"no station", func(r *air.Reading) { r.Station = "" }, ingest.NoStation},
		{"no pollutant", func(r *air.Reading) { r.Parameter = 0 }, ingest.UnknownPollutant},
		{"our clock is a little slow", func(r *air.Reading) { r.At = now.Add(5 * time.Minute) }, ingest.None},
		{"the future", func(r *air.Reading) { r.At = now.Add(5*time.Minute + time.Second) }, ingest.FutureTime},
		{"before any station", func(r *air.Reading) { r.At = time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC) }, ingest.AncientTime},
		{"no time", func(r *air.Reading) { r.At = time.Time{} }, ingest.AncientTime},
		{"a dust storm", func(r *air.Reading) { r.Parameter, r.Value = parameter.PM10, 4200 }, ingest.None},
		{"digits run together", func(r *air.Reading) { r.Value = 50505 }, ingest.OutOfRange},
		{"CO in µg/m³", func(r *air.Reading) { r.Parameter, r.Value = parameter.CO, 1130 }, ingest.OutOfRange},
		{"an index of 500", func(r *air.Reading) { r.Kind, r.Value = air.SubIndex, 500 }, ingest.None},
		{"an index above its scale", func(r *air.Reading) { r.Kind, r.Value = air.SubIndex, 501 }, ingest.OutOfRange},
		{"not a number", func(r *air.Reading) { r.Value = math.NaN() }, ingest.BadNumber},
		{"below zero", func(r *air.Reading) { r.Value = -0.5 }, ingest.NegativeValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := concentration(air.PM25, now, 50)
			r.Station = "a"
			c.change(&r)
			if got := ingest.Check(&r, now); got != c.want {
				t.Errorf("Check = %q, want %q", got, c.want)
			}
		})
	}
}
