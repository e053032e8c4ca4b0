package mapping

import (
	"fmt"
	"slices"
	"time"

	"vayu/internal/config/section"
	"vayu/schema/parameter"
)

// Owner has the name, licence and attribution of the network that a description is about.
type Owner struct{ Network, Licence, Attribution string }

// Mapping turns records into readings. It is immutable.
type Mapping struct {
	Records Records

	clock    clock
	station  stationFields
	measures []measure
	// Tests of fields of the record, and tests of fields of its elements.
	recordTests, eachTests []test
	headInEach             bool // time or station are fields of an element
	area                   area
	relabels               map[parameter.Parameter]relabel

	fields                  []field // whose absence from every record is an error
	timeAt, stationAt, each int     // indices in fields
}

// field is a field of the API that the mapping needs.
type field struct {
	key   string // in the description
	paths []path
	value bool // one of several values; a record may lack some of them
	loose bool // its absence is no error
}

// Read reads the keys of [ReadRecords], and the keys station, time, averaging, value,
// readings, relabel, quality and area.
func Read(root *section.Section, owner Owner) *Mapping {
	m := &Mapping{
		Records: ReadRecords(root), clock: readClock(root.Section("time")), station: readStation(root.Section("station"), owner),
		measures: readMeasures(root, readAveraging(root, 60)),
		area:     readArea(root.Section("area")), relabels: readRelabels(root.Section("relabel")),
	}
	m.timeAt = m.need("time.field", m.clock.field, false)
	m.stationAt = m.need("station.id", m.station.id, false)
	m.each = m.need("each", []path{parsePath(m.Records.Each)}, false)
	for i := range m.measures {
		one := &m.measures[i]
		one.valueAt = m.need(one.key, one.value, true)
		one.parameterAt = m.need("value.parameter-field", one.parameterField, false)
		one.unitAt = m.need("value.unit-field", one.unitField, false)
	}
	for _, t := range readTests(root.Section("quality")) {
		t.mapped = m.need("quality", []path{t.field}, false)
		m.fields[t.mapped].loose = !t.required
		if t.field.scope == ofEach {
			m.eachTests = append(m.eachTests, t)
		} else {
			m.recordTests = append(m.recordTests, t)
		}
	}
	for _, p := range slices.Concat(m.clock.field, m.station.paths(), m.area.countryField) {
		m.headInEach = m.headInEach || p.scope == ofEach
	}
	return m
}

// Field is a field of the API that the readings need.
type Field struct {
	Key   string   // in the description
	Paths []string // alternatives, as in the description
	Value bool     // one of several values; a record may lack some of them
}

// Fields returns the fields that the readings need.
func (m *Mapping) Fields() []Field {
	var all []Field
	for _, f := range m.fields {
		one := Field{Key: f.key, Value: f.value}
		for _, p := range f.paths {
			one.Paths = append(one.Paths, p.full)
		}
		if len(one.Paths) > 0 && one.Paths[0] != "" && !f.loose {
			all = append(all, one)
		}
	}
	return all
}

// LongestAveraging returns the longest averaging interval of the readings.
func (m *Mapping) LongestAveraging() time.Duration {
	var longest uint16
	for i := range m.measures {
		longest = max(longest, m.measures[i].averaging)
	}
	return time.Duration(longest) * time.Minute
}

// need adds a field and returns its index.
func (m *Mapping) need(key string, paths []path, value bool) int {
	m.fields = append(m.fields, field{key: key, paths: paths, value: value})
	return len(m.fields) - 1
}

// Lag returns by how much, at most, the times of records precede the ends of their intervals.
func (m *Mapping) Lag() time.Duration {
	if !m.clock.begin {
		return 0
	}
	return m.LongestAveraging()
}

// renamed describes the fields that no record has; "" if there are none. The parameter looked
// marks the fields that records were searched for; seen marks the fields that some record has.
func (m *Mapping) renamed(looked, seen []bool) string {
	anyValue := false
	for i, f := range m.fields {
		anyValue = anyValue || f.value && seen[i]
	}
	text := ""
	for i, f := range m.fields {
		if !looked[i] || seen[i] || len(f.paths) == 0 || f.value && anyValue {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%q (key %s)", f.paths[0].full, f.key)
	}
	return text
}
