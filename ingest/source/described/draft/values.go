package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"vayu/ingest/source/described/draft/note"
	"vayu/ingest/source/described/draft/quantity"
	"vayu/ingest/source/described/draft/sample"
	"vayu/schema/parameter"
)

// values is the guess about the fields that have measured values.
type values struct {
	wide []measure // the field of each parameter
	long *long     // for records with one value each; nil if wide is used
	also []string  // paths of fields that are not used, because another field has the same parameter

	document sample.Document
}

// measure is a field that has the values of one parameter.
type measure struct {
	quantity.Quantity

	field *sample.Field
	unit  guess
	path  string // where the reply states the unit; "" if nowhere
}

// long describes records with one value each. `name` has the name of the parameter, and `value` has its value.
type long struct {
	name, value *sample.Field
	unit        *sample.Field // nil for none
	names       []named
	unitOf      guess // unit of all values, if no field has it
}

// named is the name that records use for a parameter, with its meaning.
type named struct {
	name string
	quantity.Quantity
}

// findValues finds the fields that have measured values.
func findValues(fields []*sample.Field, body sample.Document) values {
	v := values{document: body}
	v.long = findLong(fields)
	if v.long != nil {
		return v
	}
	byParameter := make(map[parameter.Parameter]int)
	for _, f := range fields {
		q, ok := nameOf(f)
		if !ok || !f.IsNumber() || f.Among(notMeasured) {
			continue
		}
		one := measure{Quantity: q, field: f}
		if i, known := byParameter[q.Parameter]; known {
			other := v.wide[i]
			if one.rank() < other.rank() {
				v.wide[i], other = one, v.wide[i]
			} else {
				other = one
			}
			v.also = append(v.also, other.field.Path)
			continue
		}
		byParameter[q.Parameter] = len(v.wide)
		v.wide = append(v.wide, one)
	}
	return v
}

// notMeasured are names of objects. Their fields are not measured values, even if a field has the name of a parameter.
var notMeasured = []string{"iaqi", "aqi", "index", "indices", "standard", "standards", "limits", "threshold", "thresholds", "breakpoints", "coverage", "forecast"}

// isIndex reports whether the records at p, a place in the reply, have indices or limits instead of measured values.
func isIndex(p sample.Place) bool {
	return (&sample.Field{Path: p.At + "." + p.Each}).Among(notMeasured)
}

// rank rates a field that has a parameter. If two fields have the same parameter, the one with the lower rank is used.
func (m *measure) rank() int {
	n := len(m.Extra)
	if m.Doubtful {
		n += 4
	}
	if m.Averaging > time.Hour {
		n += 3
	}
	if m.Averaging > 0 {
		n++
	}
	return n
}

// nameOf derives the meaning of a field from its name, or from the name of the object around it, as in pm25.value.
func nameOf(f *sample.Field) (quantity.Quantity, bool) {
	if q, ok := quantity.Parse(f.Name); ok {
		return q, true
	}
	parent := f.Parent()
	last := parent[strings.LastIndexByte(strings.ReplaceAll(parent, `\.`, "__"), '.')+1:]
	if last == "" || !slices.Contains(valueNames, f.Folded()) {
		return quantity.Quantity{}, false
	}
	return quantity.Parse(strings.ReplaceAll(last, `\`, ""))
}

// Usual names of fields in records with one value each.
var (
	valueNames     = []string{"value", "val", "avg", "average", "mean", "concentration", "conc", "reading", "result", "measurement", "lastvalue", "latestvalue", "v", "amount", "level", "data", "rawconcentration", "rawconc"}
	parameterNames = []string{"parameter", "parametername", "pollutant", "pollutantid", "pollutantname", "species", "speciescode", "component", "valuetype", "measurand", "metric", "variable", "channel", "property", "observedproperty", "type", "name", "code", "id", "param", "key"}
	unitNames      = []string{"unit", "units", "uom", "unitofmeasure", "unitofmeasurement", "symbol", "unitname", "parameterunit", "parameterunits", "unitcode"}
)

// findLong finds a field with names of parameters, and the field with their values. A field with names of parameters
// can itself have any name, so findLong recognises it by its values. It returns nil if there is none.
func findLong(fields []*sample.Field) *long {
	var best *long
	for _, f := range fields {
		if f.IsNumber() || f.Filled() == 0 || f.Among([]string{"country", "countrycode", "iso", "state"}) {
			continue
		}
		var names []named
		for _, text := range f.Texts {
			if q, ok := quantity.Parse(text); ok {
				names = append(names, named{text, q})
			}
		}
		usual := slices.Contains(parameterNames, f.Folded()) || slices.Contains(parameterNames, sample.Fold(f.Parent()))
		if len(names) == 0 || len(names)*2 < len(f.Texts) || !usual && len(names) < 2 || best != nil && len(best.names) >= len(names) {
			continue
		}
		value := valueOf(fields, f)
		if value == nil {
			continue
		}
		best = &long{name: f, value: value, names: names, unit: unitOf(fields, f, names)}
	}
	return best
}

// valueOf returns the field that has the values of the parameters named in the field `of`, or nil if it is ambiguous.
func valueOf(fields []*sample.Field, of *sample.Field) *sample.Field {
	numeric := func(f *sample.Field) bool {
		format, _ := sample.TimeFormat(f.Texts)
		return f.IsNumber() && f.InEach() == of.InEach() && format == ""
	}
	if value := pick(fields, valueNames, numeric); value != nil {
		return value
	}
	var beside []*sample.Field
	for _, f := range fields {
		if numeric(f) && f.Parent() == of.Parent() && !slices.Contains(idNames, f.Folded()) && !slices.Contains(latNames, f.Folded()) && !slices.Contains(lonNames, f.Folded()) {
			beside = append(beside, f)
		}
	}
	if len(beside) != 1 {
		return nil
	}
	return beside[0]
}

// unitOf returns the field with the units of the parameters whose names are in the field `of`, or nil if there is none.
func unitOf(fields []*sample.Field, of *sample.Field, names []named) *sample.Field {
	if unit := pick(fields, unitNames, func(f *sample.Field) bool { return !f.IsNumber() && f != of && f.InEach() == of.InEach() }); unit != nil {
		return unit
	}
	for _, f := range fields {
		known := 0
		for _, text := range f.Texts {
			if slices.ContainsFunc(names, func(n named) bool { return quantity.Unit(n.Parameter, text) != "" }) {
				known++
			}
		}
		if f != of && f.InEach() == of.InEach() && known > 0 && known*2 >= len(f.Texts) && !f.IsNumber() {
			return f
		}
	}
	return nil
}

// tellParticles decides what the names p1 and p2 mean. `each` is the path of the list of values in a record.
func (v *values) tellParticles(each string) {
	var all []quantity.Named
	for i := range v.wide {
		all = append(all, quantity.Named{Quantity: &v.wide[i].Quantity, Name: v.wide[i].field.Path, Values: v.wide[i].field})
	}
	if v.long != nil {
		for i := range v.long.names {
			n := &v.long.names[i]
			all = append(all, quantity.Named{Quantity: &n.Quantity, Name: n.name, Values: v.long.valuesOf(n.name)})
		}
	}
	quantity.TellParticles(each, all)
}

// units guesses the units of all values.
func (v *values) units(fields []*sample.Field) {
	if v.long != nil {
		if v.long.unit == nil {
			v.long.unitOf = guess{"", note.Unknown, "no field has the unit"}
		}
		return
	}
	for i := range v.wide {
		m := &v.wide[i]
		if m.Quantity.Unit != "" {
			m.unit = guess{m.Quantity.Unit, note.Found, "the name of the field"}
		} else if path, text := v.statedUnit(m, fields); text != "" {
			m.path = path
			m.unit = guess{text, note.Found, path + " says so"}
		} else {
			m.unit = usualUnit(m.Parameter, m.field)
		}
	}
}

// statedUnit returns the unit of a value if the reply states it: in a field beside the value, in an object with units,
// or in a text.
func (v *values) statedUnit(m *measure, fields []*sample.Field) (path, unit string) {
	for _, f := range fields {
		beside := f.Parent() == m.field.Parent() && m.field.Parent() != "" && slices.Contains(unitNames, f.Folded())
		named := strings.HasPrefix(f.Folded(), m.field.Folded()) && slices.Contains(unitNames, strings.TrimPrefix(f.Folded(), m.field.Folded()))
		if (beside || named) && len(f.Texts) == 1 {
			if unit := quantity.Unit(m.Parameter, f.Texts[0]); unit != "" {
				return f.Path, unit
			}
		}
	}
	v.document.Root.ForEach(func(key, value gjson.Result) bool {
		if !slices.Contains(unitNames, sample.Fold(key.Str)) || !value.IsObject() {
			return true
		}
		value.ForEach(func(name, text gjson.Result) bool {
			q, ok := quantity.Parse(name.Str)
			if name.Str == m.field.Name || ok && q.Parameter == m.Parameter {
				path, unit = key.Str+"."+name.Str, quantity.Unit(m.Parameter, text.String())
			}
			return unit == ""
		})
		return unit == ""
	})
	if unit == "" {
		path, unit = v.titleUnit(m)
	}
	return path, unit
}

// titleUnit searches the reply for a text with m's parameter and a unit, such as the title "PM2.5 (ug/m3)".
func (v *values) titleUnit(m *measure) (path, unit string) {
	var search func(at string, value gjson.Result, depth int)
	search = func(at string, value gjson.Result, depth int) {
		if unit != "" || depth > sample.Deepest {
			return
		}
		if value.Type == gjson.String && len(value.Str) < 60 {
			if q, ok := quantity.Parse(value.Str); ok && q.Parameter == m.Parameter && q.Unit != "" {
				path, unit = "the text "+value.Str+" in "+at, q.Unit
			}
			return
		}
		seen := 0
		value.ForEach(func(key, inner gjson.Result) bool {
			seen++
			if key.Type == gjson.String {
				search(key.Str, inner, depth+1)
			} else {
				search(at, inner, depth+1)
			}
			return seen < sample.MostFields
		})
	}
	search("the reply", v.document.Root, 0)
	return path, unit
}

// usualUnit guesses a unit from the parameter and the size of the numbers. It cannot guess the unit of most gases, such
// as NO2. The author of the description must fill in the unit.
func usualUnit(p parameter.Parameter, f *sample.Field) guess {
	median, ok := f.Median()
	span := f.Span()
	if !ok {
		return guess{fillIn, note.Unknown, "the field has no values: " + p.Unit() + "?"}
	}
	likely := func(unit string) guess { return guess{unit, note.Guessed, span} }
	switch p.ID() {
	case "pm1", "pm25", "pm10", "bc":
		return likely("µg/m³")
	case "temperature":
		switch {
		case median > 200:
			return likely("K")
		case median > 55:
			return likely("°F")
		}
		return likely("°C")
	case "humidity":
		if f.Within(0, 1) {
			return guess{fillIn, note.Unknown, "a fraction? Units of humidity are per cent; " + span}
		}
		return likely("%")
	case "pressure":
		switch {
		case median > 30_000:
			return likely("Pa")
		case median < 120:
			return likely("kPa")
		case median < 800:
			return guess{fillIn, note.Unknown, "hPa of a place in the mountains, or mmHg? " + span}
		}
		return likely("hPa")
	case "co2", "ch4":
		return likely("ppm")
	case "wind_speed", "wind_direction", "rain", "solar_radiation":
		return likely(p.Unit())
	}
	return guess{fillIn, note.Unknown, fmt.Sprintf("ppb, ppm, µg/m³ or mg/m³? The numbers do not tell; %s", span)}
}

// write writes the section `value` for records with one value each, and otherwise the section `readings`.
func (v *values) write(w *note.Writer) {
	if v.long != nil {
		v.long.write(w)
		return
	}
	w.Section("readings", func() {
		slices.SortStableFunc(v.wide, func(a, b measure) int { return cmp.Compare(a.Parameter, b.Parameter) })
		for i := range v.wide {
			m := &v.wide[i]
			w.Section(m.Parameter.ID(), func() {
				if m.Doubt != "" {
					w.Key("value", m.field.Path, note.Guessed, "%s", m.Doubt)
				} else {
					w.Key("value", m.field.Path, note.Found, "%s", m.field.Span())
				}
				w.Key("unit", m.unit.value, m.unit.certainty, "%s", m.unit.evidence)
				if m.Averaging > 0 {
					w.Key("averaging", short(m.Averaging), note.Guessed, "the name of the field")
				}
			})
		}
	})
	if len(v.also) > 0 {
		w.Comment("Not used, because another field has the same parameter: %s", strings.Join(v.also, ", "))
	}
}

func (l *long) write(w *note.Writer) {
	w.Section("value", func() {
		w.Key("field", l.value.Path, note.Found, "%s", l.value.Span())
		w.Key("parameter-field", l.name.Path, note.Found, "%s", l.name.Sample())
		if l.unit != nil {
			w.Key("unit-field", l.unit.Path, note.Found, "%s", l.unit.Sample())
		}
		var others []string
		for _, text := range l.name.Texts {
			if !slices.ContainsFunc(l.names, func(n named) bool { return n.name == text }) {
				others = append(others, text)
			}
		}
		l.writeNames(w, others)
		l.writeUnits(w)
	})
}

// writeNames writes the section `parameters`, which maps names in records to parameters. It is needed if no field has
// the unit, if a name is unknown to Vayu or doubtful, or if the description must skip names (`others`).
func (l *long) writeNames(w *note.Writer, others []string) {
	known := l.unit != nil && !slices.ContainsFunc(l.names, func(n named) bool {
		_, ok := parameter.Parse(n.name)
		return !ok || n.Doubt != ""
	})
	if known && len(others) == 0 {
		return
	}
	w.Section("parameters", func() {
		for _, n := range l.names {
			text, g := n.Parameter.ID(), guess{certainty: note.Found, evidence: "the name"}
			if n.Doubt != "" {
				g = guess{certainty: note.Guessed, evidence: n.Doubt}
			}
			if l.unit == nil {
				if n.Unit != "" {
					g.value = n.Unit
				} else {
					g = usualUnit(n.Parameter, l.valuesOf(n.name))
					g.evidence = strings.TrimPrefix(n.Doubt+"; "+g.evidence, "; ")
				}
				text += " " + g.value
			}
			w.Key(n.name, text, g.certainty, "%s", g.evidence)
		}
		for _, text := range others {
			w.Key(text, "skip", note.Guessed, "no parameter of the catalogue has this name")
		}
	})
}

// valuesOf returns a field with only those values that records state for the parameter `name`.
func (l *long) valuesOf(name string) *sample.Field {
	out := &sample.Field{Path: l.value.Path, Name: name}
	if len(l.value.All) != len(l.name.All) {
		return out
	}
	for i, text := range l.name.All {
		if text == name {
			out.Add(l.value.Records[i], gjson.Result{Type: gjson.String, Str: l.value.All[i]})
		}
	}
	return out
}

// usedUnits returns the units that records state for the parameters in l.names.
func (l *long) usedUnits() []string {
	if len(l.unit.All) != len(l.name.All) {
		return l.unit.Texts
	}
	var used []string
	for i, text := range l.unit.All {
		if !slices.Contains(used, text) && slices.ContainsFunc(l.names, func(n named) bool { return n.name == l.name.All[i] }) {
			used = append(used, text)
		}
	}
	return used
}

// writeUnits writes the section `units`, which maps spellings of units that Vayu does not know to known units.
func (l *long) writeUnits(w *note.Writer) {
	if l.unit == nil {
		return
	}
	var odd []string
	for _, text := range l.usedUnits() {
		if !slices.ContainsFunc(l.names, func(n named) bool {
			_, ok := n.Parameter.Convert(1, text)
			return ok
		}) {
			odd = append(odd, text)
		}
	}
	if len(odd) == 0 {
		return
	}
	w.Section("units", func() {
		for _, text := range odd {
			unit := ""
			for _, n := range l.names {
				unit = cmp.Or(unit, quantity.Unit(n.Parameter, text))
			}
			if unit == "" {
				w.Key(text, fillIn, note.Unknown, "no unit of a parameter has this name")
			} else {
				w.Key(text, unit, note.Guessed, "another spelling")
			}
		}
	})
}
