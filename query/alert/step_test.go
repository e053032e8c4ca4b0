package alert

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

var noon = time.Date(2026, 11, 20, 6, 30, 0, 0, time.UTC) // 12:00 in India

// fixture evaluates one alert hour by hour.
type fixture struct {
	*Alert

	hour    uint32
	now     time.Time
	events  []string
	message string // of the last event
}

// defined returns an alert with a definition in JSON.
func defined(t *testing.T, definition string) *fixture {
	t.Helper()
	a := &Alert{ID: "alt_1", State: initial(), Active: true}
	if err := a.parse(definition); err != nil {
		t.Fatal(err)
	}
	return &fixture{Alert: a, hour: uint32(noon.Unix()), now: noon}
}

// at returns the observation of the fixture's hour with an AQI.
func (f *fixture) at(aqi int) *Observation {
	o := &Observation{Figures: aggregate.NoFigures()}
	o.At, o.Updated, o.AQI = f.hour, f.hour, int16(aqi)
	return o
}

// see evaluates an observation, and notes the event.
func (f *fixture) see(o *Observation) {
	step, ok := f.Step(o, f.now)
	if !ok {
		return
	}
	f.State = step.State
	if step.Event == "" {
		return
	}
	data := f.Data(&step, &o.Figures, f.now)
	f.message = data.Message
	text, err := json.Marshal([]any{data.Reason, data.Value, data.Previous})
	if err != nil {
		panic(err)
	}
	f.events = append(f.events, f.now.Sub(noon).String()+" "+string(text))
}

// hours evaluates one AQI each hour.
func (f *fixture) hours(all ...int) {
	for _, aqi := range all {
		f.see(f.at(aqi))
		f.hour += 3600
		f.now = f.now.Add(time.Hour)
	}
}

func (f *fixture) want(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		definition string
		hours      []int
		want       []string
	}{
		"over": {
			`{"condition":{"metric":"aqi","over":300}}`,
			[]int{299, 300, 301, 305, 300, 310},
			[]string{`2h0m0s ["crossed",301,null]`, `4h0m0s ["recovered",300,null]`, `5h0m0s ["crossed",310,null]`},
		},
		"under": {
			`{"condition":{"metric":"aqi","under":100}}`,
			[]int{100, 99, 99, 100},
			[]string{`1h0m0s ["crossed",99,null]`, `3h0m0s ["recovered",100,null]`},
		},
		"hysteresis": {
			`{"condition":{"metric":"aqi","over":300},"hysteresis":20}`,
			[]int{301, 299, 281, 301, 280, 301},
			[]string{`0s ["crossed",301,null]`, `4h0m0s ["recovered",280,null]`, `5h0m0s ["crossed",301,null]`},
		},
		"minimum interval": {
			`{"condition":{"metric":"aqi","over":300},"minimum_interval":10800}`,
			[]int{301, 300, 301, 301, 300, 301},
			[]string{`0s ["crossed",301,null]`, `1h0m0s ["recovered",300,null]`, `3h0m0s ["crossed",301,null]`, `4h0m0s ["recovered",300,null]`},
		},
		"quiet hours": {
			`{"condition":{"metric":"aqi","over":300},"quiet_hours":{"from":"13:00","to":"15:00"}}`,
			[]int{200, 301, 301, 301, 200},
			[]string{`3h0m0s ["crossed",301,null]`, `4h0m0s ["recovered",200,null]`},
		},
		"quiet hours over midnight": {
			`{"condition":{"metric":"aqi","over":300},"quiet_hours":{"from":"14:00","to":"13:00"}}`,
			[]int{301, 301, 200, 200},
			[]string{`1h0m0s ["crossed",301,null]`},
		},
		"category over": {
			`{"condition":{"metric":"category","over":"Poor"}}`,
			[]int{300, 301, 300},
			[]string{`1h0m0s ["crossed","Very Poor",null]`, `2h0m0s ["recovered","Poor",null]`},
		},
		"category under": {
			`{"condition":{"metric":"category","under":"Moderate"}}`,
			[]int{101, 100, 101},
			[]string{`1h0m0s ["crossed","Satisfactory",null]`, `2h0m0s ["recovered","Moderate",null]`},
		},
		"category change": {
			`{"condition":{"metric":"category","change":"any"}}`,
			[]int{150, 199, 201, 310, 150},
			[]string{`2h0m0s ["crossed","Poor","Moderate"]`, `3h0m0s ["crossed","Very Poor","Poor"]`, `4h0m0s ["crossed","Moderate","Very Poor"]`},
		},
		"category change with hysteresis": {
			`{"condition":{"metric":"category","change":"any"},"hysteresis":10}`,
			[]int{195, 205, 211, 195, 191, 190},
			[]string{`2h0m0s ["crossed","Poor","Moderate"]`, `5h0m0s ["crossed","Moderate","Poor"]`},
		},
		"worse category": {
			`{"condition":{"metric":"category","change":"worse"}}`,
			[]int{150, 201, 150, 250},
			[]string{`1h0m0s ["crossed","Poor","Moderate"]`, `3h0m0s ["crossed","Poor","Moderate"]`},
		},
		"band": {
			`{"condition":{"metric":"grap_band","over":2}}`,
			[]int{400, 401, 451, 400},
			[]string{`1h0m0s ["crossed",3,null]`, `3h0m0s ["recovered",2,null]`},
		},
		"band change": {
			`{"condition":{"metric":"grap_band","change":"better"}}`,
			[]int{451, 450, 401, 300},
			[]string{`1h0m0s ["crossed",3,4]`, `3h0m0s ["crossed",1,3]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := defined(t, row.definition)
			f.hours(row.hours...)
			f.want(t, row.want...)
		})
	}
}

func TestPollutantCountsIfMeasuredHere(t *testing.T) {
	t.Parallel()
	f := defined(t, `{"condition":{"metric":"no2","over":80}}`)
	o := f.at(100)
	f.see(o)
	o.Concentrations[air.NO2-1], o.GapFilled = 8100, 1<<(air.NO2-1)
	f.see(o)
	f.want(t)
	o.GapFilled = 0
	f.see(o)
	f.want(t, `0s ["crossed",81,null]`)
}

func TestAgeFollowsTheClock(t *testing.T) {
	t.Parallel()
	f := defined(t, `{"condition":{"metric":"age","over":7200}}`)
	o := f.at(100)
	for range 4 {
		f.see(o)
		f.now = f.now.Add(time.Hour)
	}
	f.hour += 4 * 3600
	f.see(f.at(100))
	f.want(t, `3h0m0s ["crossed",10800,null]`, `4h0m0s ["recovered",0,null]`)
}

func TestForecast(t *testing.T) {
	t.Parallel()
	f := defined(t, `{"condition":{"metric":"forecast","category":"Severe","day":1,"over":0.5}}`)
	chance := 0.4
	o := f.at(100)
	f.see(o)
	o.Chances = func(category string, day int) (float64, bool) { return chance, category == "Severe" && day == 1 }
	f.see(o)
	f.want(t)
	chance = 0.6
	f.see(o)
	f.want(t, `0s ["crossed",0.6,null]`)
}

// A correction of the hour of the crossing resolves the alert, also within the hysteresis.
func TestCorrectionOfTheCurrentHour(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		definition    string
		first, second int
		want          string
	}{
		"over":     {`{"condition":{"metric":"aqi","over":300},"hysteresis":50}`, 310, 295, `0s ["corrected",295,null]`},
		"category": {`{"condition":{"metric":"category","change":"any"}}`, 310, 195, `0s ["corrected","Moderate","Very Poor"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := defined(t, row.definition)
			f.hour -= 3600
			f.see(f.at(150))
			f.hour += 3600
			f.see(f.at(row.first))
			f.see(f.at(row.second))
			f.see(f.at(row.second))
			if len(f.events) != 2 || f.events[1] != row.want {
				t.Errorf("got %v, want a second event %s", f.events, row.want)
			}
		})
	}
}

// A correction of an earlier hour resolves the alert, unless another hour meets the condition.
func TestCorrectionOfAnEarlierHour(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		corrected []int
		want      air.AlertReason
		moved     uint32
	}{
		"still crossed":      {[]int{320, 290, 295}, "", 0},
		"undone":             {[]int{290, 290, 295}, air.AlertCorrected, 0},
		"crossed later":      {[]int{290, 305, 295}, "", 3600},
		"hour was withdrawn": {[]int{-1, 290, 295}, air.AlertCorrected, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := defined(t, `{"condition":{"metric":"aqi","over":300},"hysteresis":20}`)
			crossing := f.hour
			f.hours(310, 290)
			var hours []Observation
			for i, aqi := range row.corrected {
				o := f.at(aqi)
				o.At = crossing + uint32(i)*3600
				if aqi >= 0 {
					hours = append(hours, *o)
				}
			}
			step, ok := f.Recheck(hours, f.now)
			if got, want := ok, row.want != "" || row.moved > 0; got != want {
				t.Fatalf("changed: got %t, want %t", got, want)
			}
			if step.Reason != row.want {
				t.Errorf("got the reason %q, want %q", step.Reason, row.want)
			}
			if row.moved > 0 && step.State.Hour != crossing+row.moved {
				t.Errorf("got the crossing at %d, want %d", step.State.Hour, crossing+row.moved)
			}
		})
	}
}

// A correction of the hours since a change of the category takes the change back, unless a later hour has it.
func TestCorrectionOfAnEarlierChange(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		corrected []int
		reason    air.AlertReason
		moved     uint32
		level     int
	}{
		"still changed":      {[]int{320, 310, 305}, "", 0, 4},
		"undone":             {[]int{195, 190, 180}, air.AlertCorrected, 0, 2},
		"changed later":      {[]int{195, 315, 305}, "", 3600, 4},
		"within hysteresis":  {[]int{205, 205, 205}, air.AlertCorrected, 0, 2},
		"another level":      {[]int{250, 250, 250}, "", 0, 4},
		"hour was withdrawn": {[]int{-1, 190, 180}, air.AlertCorrected, 0, 2},
		"nothing known":      {[]int{-1, -1, -1}, "", 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := defined(t, `{"condition":{"metric":"category","change":"any"},"hysteresis":10}`)
			f.hours(150)
			change := f.hour
			f.hours(320, 315)
			var hours []Observation
			for i, aqi := range row.corrected {
				o := f.at(aqi)
				o.At = change + uint32(i)*3600
				if aqi >= 0 {
					hours = append(hours, *o)
				}
			}
			step, ok := f.Recheck(hours, f.now)
			if got, want := ok, row.reason != "" || row.moved > 0; got != want {
				t.Fatalf("changed: got %t, want %t", got, want)
			}
			if !ok {
				return
			}
			if step.Reason != row.reason {
				t.Errorf("got the reason %q, want %q", step.Reason, row.reason)
			}
			if step.State.Level != row.level {
				t.Errorf("got the level %d, want %d", step.State.Level, row.level)
			}
			if row.moved > 0 && step.State.Hour != change+row.moved {
				t.Errorf("got the change at %d, want %d", step.State.Hour, change+row.moved)
			}
			f.State = step.State
			if again, repeated := f.Recheck(hours, f.now); repeated {
				t.Errorf("got the step %+v again, want none", again)
			}
		})
	}
}

func TestImpossibleConditions(t *testing.T) {
	t.Parallel()
	for definition, field := range map[string]string{
		`{"condition":{"metric":"aqi","over":500}}`:                                             "condition.over",
		`{"condition":{"metric":"aqi","over":-1}}`:                                              "condition.over",
		`{"condition":{"metric":"aqi","over":"many"}}`:                                          "condition.over",
		`{"condition":{"metric":"category","over":3}}`:                                          "condition.over",
		`{"condition":{"metric":"aqi","under":0}}`:                                              "condition.under",
		`{"condition":{"metric":"aqi","under":501}}`:                                            "condition.under",
		`{"condition":{"metric":"pm25","over":1e9}}`:                                            "condition.over",
		`{"condition":{"metric":"smell","over":1}}`:                                             "condition.metric",
		`{"condition":{"metric":"aqi","change":"any"}}`:                                         "condition.change",
		`{"condition":{"metric":"category","change":"sideways"}}`:                               "condition.change",
		`{"condition":{"metric":"category","over":"Severe"}}`:                                   "condition.over",
		`{"condition":{"metric":"category","under":"Good"}}`:                                    "condition.under",
		`{"condition":{"metric":"category","over":"Terrible"}}`:                                 "condition.over",
		`{"condition":{"metric":"grap_band","over":4}}`:                                         "condition.over",
		`{"condition":{"metric":"grap_band","over":1.5}}`:                                       "condition.over",
		`{"condition":{"metric":"age","over":60}}`:                                              "condition.over",
		`{"condition":{"metric":"forecast","category":"Severe","day":4,"over":0.5}}`:            "condition.day",
		`{"condition":{"metric":"forecast","category":"Good","day":1,"over":0.5}}`:              "condition.category",
		`{"condition":{"metric":"forecast","category":"Poor","day":1,"over":1}}`:                "condition.over",
		`{"condition":{"metric":"aqi","over":300,"day":1}}`:                                     "condition.day",
		`{"condition":{"metric":"aqi","over":300},"hysteresis":301}`:                            "hysteresis",
		`{"condition":{"metric":"aqi","over":300},"hysteresis":-1}`:                             "hysteresis",
		`{"condition":{"metric":"aqi","over":300},"minimum_interval":-1}`:                       "minimum_interval",
		`{"condition":{"metric":"aqi","over":300},"quiet_hours":{"from":"25:00","to":"07:00"}}`: "quiet_hours.from",
		`{"condition":{"metric":"aqi","over":300},"quiet_hours":{"from":"07:00","to":"07:00"}}`: "quiet_hours.to",
		`{"condition":{"metric":"aqi","over":300,"under":1}}`:                                   "condition",
		`{"condition":{"metric":"aqi"}}`:                                                        "condition",
	} {
		t.Run(definition, func(t *testing.T) {
			t.Parallel()
			err := new(Alert).parse(definition)
			problem, ok := errors.AsType[*schema.Problem](err)
			if !ok {
				t.Fatalf("got error %v, want a problem of %q", err, field)
			}
			if problem.Field != field {
				t.Fatalf("got a problem of %q, want one of %q: %v", problem.Field, field, err)
			}
			// A form shows the message beside a label, so that it has no name such as condition.over.
			if strings.ContainsAny(field, "._") && strings.Contains(problem.Message, field) {
				t.Errorf("got the message %q, want one without the name of the field", problem.Message)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		definition string
		hours      []int
		want       string
	}{
		"crossed": {
			`{"place":{"name":"Delhi"},"condition":{"metric":"aqi","over":300},"language":"en"}`, []int{312},
			"Delhi: AQI is 312 (Very Poor), over the limit of 300.",
		},
		"Hindi": {
			`{"place":{"name":"Delhi"},"condition":{"metric":"aqi","over":300},"language":"hi"}`, []int{312},
			"दिल्ली: AQI 312 है (बहुत ख़राब), सीमा 300 से ऊपर।",
		},
		"recovered": {
			`{"place":{"name":"Delhi"},"condition":{"metric":"aqi","over":300},"language":"en"}`, []int{312, 250},
			"Delhi: AQI is 250 (Poor). Resolved: the condition is not met any more.",
		},
		"category": {
			`{"place":{"name":"Pune"},"condition":{"metric":"category","change":"worse"},"language":"en"}`, []int{90, 150},
			"Pune: AQI is Moderate, before it was Satisfactory.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := defined(t, row.definition)
			f.hours(row.hours...)
			if f.message != row.want {
				t.Errorf("got %q, want %q", f.message, row.want)
			}
		})
	}
}
