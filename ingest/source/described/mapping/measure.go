package mapping

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
	"vayu/ingest/source/file/table"
	"vayu/internal/config"
	"vayu/internal/config/section"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// measure defines how one value in a record becomes a reading: its parameter, unit, kind and averaging interval.
type measure struct {
	value   []record.Path
	missing []string // values that mean that there is no value
	clipped []string // values that mean that the sensor was at an end of its range

	parameter      parameter.Parameter // invalid if parameterField is set
	parameterField []record.Path
	parameters     map[string]named
	skipOthers     bool // skip values of unknown parameters; else they count as rejected

	unit      string // as in the description; "" if unitField is set
	unitField []record.Path
	units     map[string]string

	factor    float64 // multiplies values before the unit is converted
	kind      air.Kind
	averaging uint16 // minutes

	key                          string // key of the description
	valueAt, parameterAt, unitAt int    // indices in Mapping.fields
}

// fieldOf returns the name of a value for operators: its parameter, or its key in the description if the parameter is
// invalid.
func (m *measure) fieldOf(p parameter.Parameter) string {
	if p.Valid() {
		return p.ID()
	}
	return m.key
}

// named is an entry of the section `parameters`, which maps names of parameters in records to the parameters of Vayu.
type named struct {
	parameter parameter.Parameter
	unit      string // "" if the entry states no unit
	skip      bool
}

// skipWord in the section `parameters` skips the values of a name. As the value of `others`, it skips unknown names.
const skipWord = "skip"

var errUnit = errors.New("is missing: unit, unit-field, or a unit in the table parameters")

// headerWord is the value "header" of the key `readings`. It selects every column whose name is that of a parameter.
// The other form of `readings` is a section that lists the columns.
const headerWord = "header"

// readMeasures reads the section `value` (one value in each record) or the section `readings` (its keys are
// parameters). `averaging` is the default averaging interval in minutes. `byHeader` is true for `readings: header`: the
// header of each table then determines the measures.
func readMeasures(root *section.Section, averaging uint16) (all []measure, byHeader bool) {
	if n := root.Node("readings"); n != nil && n.Kind == yaml.ScalarNode && root.Node("value") == nil {
		if root.Choice("readings", "", headerWord); root.Node("csv") == nil {
			root.Faultf("readings", "header belongs to a table: it needs csv")
		}
		return nil, true
	}
	long, wide := root.Section("value"), root.Section("readings")
	if long.Present() == wide.Present() {
		root.Faultf("readings", "either readings, with one key for each parameter, or value must describe the values")
		return nil, false
	}
	if long.Present() {
		m := readMeasure(long, "field", averaging)
		m.key = "value.field"
		m.readParameter(long)
		m.checkUnits(long)
		return []measure{m}, false
	}
	for _, name := range wide.Names() {
		one := wide.Section(name)
		m := readMeasure(one, "value", averaging)
		m.key = "readings." + name + ".value"
		m.parameter = parameterOf(wide, name, name)
		m.checkUnits(one)
		all = append(all, m)
	}
	if len(all) == 0 {
		wide.Faultf("", "has no parameter")
	}
	return all, false
}

// ofHeader returns a measure for each column whose name is that of a parameter, such as "PM2.5 (ug/m3)". The values are
// concentrations.
func ofHeader(names []string, averaging uint16) []measure {
	cells := make([][]byte, len(names))
	for i, name := range names {
		cells[i] = []byte(name)
	}
	var all []measure
	for _, c := range table.HeaderOf(cells).Columns() {
		unit := c.Unit
		if unit == "" {
			unit = c.Parameter.Unit()
		}
		all = append(all, measure{
			value: []record.Path{record.Column(names[c.Index])}, parameter: c.Parameter, unit: unit,
			factor: 1, kind: air.Concentration, averaging: averaging, key: "readings",
		})
	}
	return all
}

func readMeasure(s *section.Section, valueKey string, averaging uint16) measure {
	m := measure{
		value: record.ReadPaths(s, valueKey), missing: texts(s, "missing"), clipped: texts(s, "clipped"),
		unit: s.Text("unit"), unitField: record.ReadPaths(s, "unit-field"),
		factor: readFactor(s), kind: air.Concentration, averaging: readAveraging(s, averaging),
	}
	if len(m.value) == 0 {
		s.Faultf(valueKey, "is missing: the path of the value")
	}
	if s.Choice("kind", "concentration", "concentration", "sub-index") == "sub-index" {
		m.kind = air.SubIndex
	}
	table := s.Section("units")
	for _, e := range table.Entries() {
		if m.units == nil {
			m.units = make(map[string]string)
		}
		m.units[e.Name] = e.Text
		if err := checkUnit(0, e.Text); err != nil {
			table.FaultAt(e.Line, e.Name, err)
		}
	}
	return m
}

// readFactor reads the factor that multiplies values; 1 by default. If it is invalid, readFactor adds a fault to s and
// returns 1.
func readFactor(s *section.Section) float64 {
	factor := number(s, "factor")
	if factor == nil {
		return 1
	}
	if *factor <= 0 || math.IsInf(*factor, 0) || math.IsNaN(*factor) {
		s.Faultf("factor", "must be a positive number, such as 0.001")
		return 1
	}
	return *factor
}

// readAveraging reads the key `averaging`, and returns it in minutes. `fallback` is the default in minutes.
func readAveraging(s *section.Section, fallback uint16) uint16 {
	d := s.Duration("averaging", time.Duration(fallback)*time.Minute, time.Minute, 31*24*time.Hour)
	if d%time.Minute != 0 {
		s.Faultf("averaging", "must be whole minutes")
	}
	return uint16(d / time.Minute)
}

// parameterOf returns the parameter with the given name. If the name is unknown, it adds a fault of the key to s.
func parameterOf(s *section.Section, key, name string) parameter.Parameter {
	p, known := parameter.Parse(name)
	if !known {
		var ids []string
		for p := range parameter.All() {
			ids = append(ids, p.ID())
		}
		s.Faultf(key, "%w", unknown("parameter", name, ids))
	}
	return p
}

// readParameter reads the keys `parameter`, `parameter-field`, `parameters` and `others`.
func (m *measure) readParameter(s *section.Section) {
	m.parameterField = record.ReadPaths(s, "parameter-field")
	if name := s.Text("parameter"); name != "" {
		m.parameter = parameterOf(s, "parameter", name)
	}
	if (s.Node("parameter") == nil) == (len(m.parameterField) == 0) {
		s.Faultf("parameter", "either parameter or parameter-field must name the parameter")
	}
	m.skipOthers = s.Choice("others", "reject", "reject", skipWord) == skipWord
	table := s.Section("parameters")
	for _, e := range table.Entries() {
		if m.parameters == nil {
			m.parameters = make(map[string]named)
		}
		name, unit, _ := strings.Cut(e.Text, " ")
		if name == skipWord {
			m.parameters[e.Name] = named{skip: true}
			continue
		}
		n := named{parameter: parameterOf(table, e.Name, name), unit: strings.TrimSpace(unit)}
		m.parameters[e.Name] = n
		if n.unit != "" {
			if err := checkUnit(n.parameter, n.unit); err != nil {
				table.FaultAt(e.Line, e.Name, err)
			}
		}
	}
}

// checkUnits checks that each value has a unit, and that this unit can be converted to the unit of the parameter.
// Sub-indices have no unit.
func (m *measure) checkUnits(s *section.Section) {
	if m.kind == air.SubIndex {
		if m.parameter.Valid() && !m.parameter.Indexed() {
			s.Faultf("kind", "%s has no sub-index", m.parameter)
		}
		return
	}
	switch {
	case m.unit != "":
		if err := checkUnit(m.parameter, m.unit); err != nil {
			s.Faultf("unit", "%w", err)
		}
	case len(m.unitField) == 0:
		if len(m.parameters) == 0 {
			s.Faultf("unit", "%w", errUnit)
		}
		for _, n := range m.parameters {
			if !n.skip && n.unit == "" {
				s.Faultf("unit", "%w", errUnit)
				return
			}
		}
	}
}

// checkUnit returns an error if a unit is unknown, or cannot be converted to the unit of p. If p is invalid, the unit
// may be that of any parameter.
func checkUnit(p parameter.Parameter, unit string) error {
	of := p
	for q := range parameter.All() {
		if p.Valid() && q != p {
			continue
		}
		if of = q; canConvert(q, unit) {
			return nil
		}
	}
	if p.Valid() && known(unit) {
		return fmt.Errorf("%q cannot be converted to the unit of %s, %s", unit, p, p.Unit())
	}
	if p.Valid() {
		return unknown("unit", unit, append(parameter.Units(), of.Unit()))
	}
	return unknown("unit", unit, parameter.Units())
}

func canConvert(p parameter.Parameter, unit string) bool {
	_, ok := p.Convert(1, unit)
	return ok
}

func known(unit string) bool {
	for p := range parameter.All() {
		if canConvert(p, unit) {
			return true
		}
	}
	return false
}

func unknown(what, name string, all []string) error {
	return fmt.Errorf("the %s %q %w", what, name, config.UnknownKey(name, all))
}

// parameterOf returns the parameter and the unit of a value in a record. `skip` is true if the description skips the
// value. `seen` is false if the record lacks the field that names the parameter. `known` caches parameters by name.
func (m *measure) parameterOf(f *record.Frame, known table.Parameters) (p parameter.Parameter, unit string, skip, seen bool) {
	if m.parameter.Valid() {
		return m.parameter, m.unit, false, true
	}
	name, seen := f.Text(m.parameterField)
	if n, listed := m.parameters[name]; listed {
		if n.unit == "" {
			n.unit = m.unit
		}
		return n.parameter, n.unit, n.skip, seen
	}
	if len(m.parameters) == 0 {
		p = known.Parse(name)
	}
	return p, m.unit, !p.Valid() && m.skipOthers, seen
}

// valueOf returns the first text at m.value that is neither empty nor in m.missing, or "" if there is none. `seen` is
// false if the record has none of the fields.
func (m *measure) valueOf(f *record.Frame) (text string, seen bool) {
	for i := range m.value {
		text, found := f.Text(m.value[i : i+1])
		seen = seen || found
		if text != "" && !has(m.missing, text) {
			return text, true
		}
	}
	return "", seen
}

// relabel replaces a wrong unit that a network states. Values below `below` with the unit `unit` get the unit `as`.
type relabel struct {
	unit, as string
	below    float64
}

// readRelabels reads the section `relabel`, whose keys are parameters.
func readRelabels(s *section.Section) map[parameter.Parameter]relabel {
	all := make(map[parameter.Parameter]relabel)
	for _, name := range s.Names() {
		one := s.Section(name)
		p := parameterOf(s, name, name)
		r := relabel{unit: one.Required("unit"), as: one.Required("as")}
		if below := number(one, "below"); below != nil {
			r.below = *below
		} else {
			one.Faultf("below", "is missing: the value below which the unit is wrong")
		}
		for key, unit := range map[string]string{"unit": r.unit, "as": r.as} {
			if err := checkUnit(p, unit); err != nil {
				one.Faultf(key, "%w", err)
			}
		}
		all[p] = r
	}
	return all
}

// convert parses a value and converts it to the unit that Vayu uses for the parameter. A sub-index is not converted.
func (m *measure) convert(p parameter.Parameter, text, unit string, relabels map[parameter.Parameter]relabel) (float64, ingest.Reason) {
	v, reason := ingest.ParseValueOf(p, text)
	if reason != ingest.None || m.kind == air.SubIndex {
		return v, reason
	}
	if other, mapped := m.units[unit]; mapped {
		unit = other
	}
	if r, odd := relabels[p]; odd && v < r.below && strings.EqualFold(strings.TrimSpace(unit), r.unit) {
		unit = r.as
	}
	v, ok := p.Convert(v*m.factor, unit)
	if !ok {
		return 0, ingest.UnknownUnit
	}
	return v, ingest.None
}

func (s *Sink) measure(f *record.Frame, m *measure, h *head) error {
	at, of, reason := h.at, h.of, h.reason
	p, unit, skip, seen := m.parameterOf(f, s.names)
	s.noteField(m.parameterAt, seen)
	if skip {
		return nil
	}
	text, seen := m.valueOf(f)
	s.noteField(m.valueAt, seen)
	if len(m.unitField) > 0 {
		unit, seen = f.Text(m.unitField)
		s.noteField(m.unitAt, seen)
		s.noteUnit(p, unit)
	}
	if reason == ingest.None && !p.Valid() {
		reason = ingest.UnknownPollutant
	}
	if reason != ingest.None {
		s.builder.RejectField(reason, m.fieldOf(p))
		return nil
	}
	minutes := m.averaging
	if h.minutes > 0 {
		minutes = h.minutes
	}
	if s.clock.Begin {
		at = at.Add(time.Duration(minutes) * time.Minute)
	}
	if of.builder != s.builder {
		of.number, of.builder = s.builder.Station(of.described), s.builder
	}
	reading := air.Reading{Parameter: p, At: at, Kind: m.kind, Averaging: minutes, Flag: h.flag}
	if has(m.clipped, text) {
		reading.Flag = air.Clipped
	}
	reading.Value, reason = m.convert(p, f.Number(text), unit, s.m.relabels)
	switch reason {
	case ingest.None:
	case ingest.MissingValue:
		s.builder.Missing(of.number, reading)
		return nil
	default:
		s.builder.RejectField(reason, m.fieldOf(p))
		return nil
	}
	if s.Accept != nil && !s.Accept(of.described.ID, p, at) {
		return nil
	}
	if s.added != nil {
		id := added{of, p, at.Unix()}
		if s.added[id] {
			s.builder.RejectField(ingest.Duplicate, p.ID())
			return nil
		}
		s.added[id] = true
	}
	s.readings++
	return s.builder.Add(of.number, reading)
}

// noteUnit adds the unit of a parameter to the fingerprint of the fetch, by which changes of the API are detected.
func (s *Sink) noteUnit(p parameter.Parameter, unit string) {
	of := unitOf{p, unit}
	if !p.Valid() || s.units[of] || len(s.units) >= mostUnits {
		return
	}
	s.units[unitOf{p, strings.Clone(unit)}] = true
	s.builder.Unit(p, unit)
}
