package mapping

import (
	"strings"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
)

// pathsOf is a key of the description with its alternative paths. A record is valid even if it lacks all these paths.
type pathsOf struct {
	key   string
	paths []record.Path
}

func (p *pathsOf) text() string {
	var all []string
	for i := range p.paths {
		all = append(all, p.paths[i].String())
	}
	return strings.Join(all, ", ")
}

// optional returns the paths of fields that records need not have.
func (m *Mapping) optional() []pathsOf {
	var all []pathsOf
	add := func(key string, paths []record.Path) {
		if len(paths) > 0 {
			all = append(all, pathsOf{key, paths})
		}
	}
	for _, tests := range [][]test{m.recordTests, m.eachTests} {
		for i := range tests {
			add("quality."+tests[i].field.String(), []record.Path{tests[i].field})
		}
	}
	for i := range m.measures {
		one := &m.measures[i]
		section := one.key[:strings.LastIndexByte(one.key, '.')+1]
		add(one.key, one.value)
		add(section+"parameter-field", one.parameterField)
		add(section+"unit-field", one.unitField)
	}
	add("area.country-field", m.area.countryField)
	return append(all, m.station.optional()...)
}

// optional returns the paths of the station fields that are optional in a record.
func (d *stationFields) optional() []pathsOf {
	var all []pathsOf
	for _, one := range []pathsOf{
		{"name", d.name}, {"city", d.city}, {"state", d.state}, {"latitude", d.latitude}, {"longitude", d.longitude},
		{"licence", d.licence}, {"attribution", d.attribution}, {"kind-field", d.kindField},
	} {
		if len(one.paths) > 0 {
			all = append(all, pathsOf{"station." + one.key, one.paths})
		}
	}
	return all
}

// notePaths reports to the builder's [ingest.Paths] which of the optional paths exist in a record or an element of its
// list. This takes as long as the mapping itself. Therefore most fetches set no Paths, and notePaths does nothing.
func (s *Sink) notePaths(f *record.Frame) {
	to := s.builder.Paths()
	if to == nil {
		return
	}
	if s.optional == nil {
		s.optional = s.m.optional()
	}
	for i := range s.optional {
		one := &s.optional[i]
		_, seen := f.Text(one.paths)
		to.Note(one.key, one.text(), 1, seen)
	}
}

// Note reports to the [ingest.Paths] `to` which fields of the list occur in the entries that the walk has read.
// `section` is the name of the list's section in the description: partitions or stations.
func (w *Walk) Note(section string, to *ingest.Paths) {
	for _, name := range w.l.names {
		one := pathsOf{section + ".fields." + name, w.l.paths[name]}
		to.Note(one.key, one.text(), w.walked, w.without[name] < 0)
	}
}
