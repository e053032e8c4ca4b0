// Package mapping turns the records of replies and files into stations and readings. A description (YAML) defines how.
// The package opens no connection and reads no clock.
package mapping

import (
	"slices"
	"time"

	"vayu/ingest/source/described/bulletin"
	"vayu/ingest/source/described/record"
	"vayu/ingest/source/described/timestamp"
	"vayu/internal/config"
	"vayu/internal/config/section"
	"vayu/schema/parameter"
)

// Owner has the facts that a description states about the whole network.
type Owner struct{ Network, Licence, Attribution string }

// Mapping turns records into readings. It is immutable.
type Mapping struct {
	Records record.Records

	clock    timestamp.Clock
	bulletin *bulletin.Fields // paths of a bulletin; nil if records have readings
	station  stationFields
	measures []measure
	byHeader bool   // the header of each table determines its measures
	interval uint16 // default averaging interval in minutes
	spacing  *spacing
	extracts []record.Extract
	only     []filter
	match    []record.Path // paths of the station's id in the station list; nil for the station's key
	// recordTests are the quality tests of a record's fields. eachTests are the quality tests of the elements in the
	// record's list.
	recordTests, eachTests []test
	headInEach             bool // a field of the time, station, country or key `only` is in the list's elements
	area                   area
	relabels               map[parameter.Parameter]relabel

	fields                  []field // fields that the mapping reads; a field that no record has may be an error (see Sink.Check)
	timeAt, stationAt, each int     // indices in fields
}

// field is a field of a record that the mapping reads.
type field struct {
	key   string // key of the description
	paths []record.Path
	value bool // the field has a measured value; a record may lack some values, but not all
	loose bool // it is no error if no record has the field
}

// Read reads the mapping from a description: the keys of [record.Read], and the keys `station`, `time`, `averaging`,
// `value`, `readings`, `relabel`, `only`, `quality`, `area`, `extract`, `bulletin` and `stations.match`.
func Read(root *section.Section, owner Owner) *Mapping {
	m := &Mapping{
		Records: record.Read(root), clock: timestamp.Read(root.Section("time")), bulletin: bulletin.Read(root.Section("bulletin")),
		interval: 60, extracts: record.ReadExtracts(root.Section("extract")), match: record.ReadPaths(root.Section("stations"), "match"),
		area: readArea(root.Section("area")), relabels: readRelabels(root.Section("relabel")),
	}
	if m.bulletin != nil {
		return m.readBulletin(root)
	}
	m.readOnly(root.Section("only"))
	m.station = readStation(root.Section("station"), owner)
	if m.spacing = readSpacing(root); m.spacing == nil {
		m.interval = readAveraging(root, 60)
	}
	m.measures, m.byHeader = readMeasures(root, m.interval)
	m.timeAt = m.need("time.field", m.clock.Field, false)
	m.stationAt = m.need("station.id", m.station.id, false)
	m.each = m.need("each", []record.Path{record.ParsePath(m.Records.Each)}, false)
	m.need("time.begin", m.clock.From, false)
	m.need("time.end", m.clock.To, false)
	for i := range m.measures {
		one := &m.measures[i]
		one.valueAt = m.need(one.key, one.value, true)
		one.parameterAt = m.need("value.parameter-field", one.parameterField, false)
		one.unitAt = m.need("value.unit-field", one.unitField, false)
	}
	for _, t := range readTests(root.Section("quality")) {
		t.mapped = m.need("quality", []record.Path{t.field}, false)
		m.fields[t.mapped].loose = !t.required
		if t.field.InEach() {
			m.eachTests = append(m.eachTests, t)
		} else {
			m.recordTests = append(m.recordTests, t)
		}
	}
	head := slices.Concat(m.clock.Field, m.clock.From, m.clock.To, m.station.paths(), m.area.countryField)
	for i := range m.only {
		head = slices.Concat(head, m.only[i].field)
	}
	m.headInEach = slices.ContainsFunc(head, record.Path.InEach)
	m.checkExtracts(root)
	return m
}

// readBulletin completes the mapping of a description with the section `bulletin`. Keys for readings are then faults.
func (m *Mapping) readBulletin(root *section.Section) *Mapping {
	m.timeAt = m.need("time.field", m.clock.Field, false)
	m.need("bulletin.city", m.bulletin.City, false)
	m.need("bulletin.index", m.bulletin.Index, false)
	m.need("bulletin.category", m.bulletin.Category, false)
	for _, key := range []string{"station", "readings", "value", "averaging", "quality"} {
		if root.Node(key) != nil {
			root.Faultf(key, "belongs to readings, not to bulletin")
		}
	}
	return m
}

// Field is a field that records must have, because readings are made from it.
type Field struct {
	Key   string   // key of the description
	Paths []string // alternative paths as in the description
	Value bool     // the field has a measured value; a record may lack some values, but not all
}

// Fields returns the fields that records must have, because readings are made from them.
func (m *Mapping) Fields() []Field {
	var all []Field
	for _, f := range m.fields {
		one := Field{Key: f.key, Value: f.value}
		for _, p := range f.paths {
			one.Paths = append(one.Paths, p.String())
		}
		if len(one.Paths) > 0 && one.Paths[0] != "" && !f.loose {
			all = append(all, one)
		}
	}
	return all
}

// LongestAveraging returns the longest averaging interval that a reading can have.
func (m *Mapping) LongestAveraging() time.Duration {
	longest := m.interval
	if m.spacing != nil {
		longest = m.spacing.most
	}
	for i := range m.measures {
		longest = max(longest, m.measures[i].averaging)
	}
	return time.Duration(longest) * time.Minute
}

// checkExtracts adds a fault for each extracted field that a key uses but the section `extract` does not define.
func (m *Mapping) checkExtracts(root *section.Section) {
	names := record.ExtractedNames(m.extracts)
	all := slices.Concat(m.clock.Field, m.clock.From, m.clock.To, m.station.paths(), m.area.countryField, m.match)
	for i := range m.only {
		all = slices.Concat(all, m.only[i].field)
	}
	for i := range m.measures {
		all = slices.Concat(all, m.measures[i].value, m.measures[i].parameterField, m.measures[i].unitField)
	}
	for _, p := range all {
		if name, ok := p.Extracted(); ok && !slices.Contains(names, name) {
			root.Faultf("extract", "the field %q %w", name, config.UnknownKey(name, names))
		}
	}
}

// need adds a field to m.fields and returns its index there.
func (m *Mapping) need(key string, paths []record.Path, value bool) int {
	m.fields = append(m.fields, field{key: key, paths: paths, value: value})
	return len(m.fields) - 1
}

// Received reports whether records have no times, and therefore get the time of their arrival.
func (m *Mapping) Received() bool { return m.clock.Received }

// Lag returns the time by which the time of a record may precede the end of its interval. If records state the start
// of their interval, Lag is the longest interval. Otherwise it is 0. The time range of requests must start earlier by
// Lag, because the API may select records by the start of their interval.
func (m *Mapping) Lag() time.Duration {
	if !m.clock.Begin && !m.clock.Intervals() {
		return 0
	}
	return m.LongestAveraging()
}
