package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// FieldType is a set of types of values, as the source sends them. Each type is one bit.
type FieldType uint8

// The types. NullField is the empty set, so a null value adds no type to its field.
const (
	NullField   FieldType = 0
	TextField   FieldType = 1 << iota // also every cell of a table without types
	NumberField                       // a JSON number
	BoolField
	ListField
	ObjectField
)

// typeNames are the names of the types, in the order of their bits.
var typeNames = [...]struct {
	is   FieldType
	name string
}{{TextField, "text"}, {NumberField, "number"}, {BoolField, "bool"}, {ListField, "list"}, {ObjectField, "object"}}

// String returns the names of the types, such as "number" or "text|number". It returns "" for a field that was always
// null.
func (t FieldType) String() string {
	var names []string
	for _, one := range typeNames {
		if t&one.is != 0 {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, "|")
}

// Fingerprint describes the records of a run: their fields, and the units of their values. If a source renames a field
// or changes a unit, its fingerprint changes.
type Fingerprint struct {
	// Fields maps each field or column to the types of its values. The key is the path of the field. The path of a
	// field in a list has the element "#", as in "sensors.#.value".
	Fields map[string]FieldType
	// Units maps each parameter to the units that records state for it, in the spelling of the source. It excludes
	// units that only the configuration states.
	Units map[string][]string
}

const (
	// maxFields is the largest number of fields in a fingerprint. The known networks have at most 70.
	maxFields = 500
	// maxFieldName is the maximum length of the name of a field or unit, in bytes. Longer names are cut.
	maxFieldName = 200
	// maxUnits is the largest number of units of a parameter in a fingerprint.
	maxUnits = 10
)

// Hash identifies the fields and units by 32 hexadecimal digits. It returns "" if there are no fields. It ignores
// types, because they depend on the values: a field can be null in all records of one run.
func (f Fingerprint) Hash() string {
	if len(f.Fields) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(f.Fields)) {
		_, _ = fmt.Fprintf(sum, "%q\n", path)
	}
	for _, parameter := range slices.Sorted(maps.Keys(f.Units)) {
		_, _ = fmt.Fprintf(sum, "%q %q\n", parameter, slices.Sorted(slices.Values(f.Units[parameter])))
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// field adds a type to the types of a field. It ignores a new field if f has maxFields fields already.
func (f *Fingerprint) field(path string, is FieldType) {
	if len(path) > maxFieldName {
		path = strings.ToValidUTF8(path[:maxFieldName], "")
	}
	was, known := f.Fields[path]
	if !known && len(f.Fields) >= maxFields {
		return
	}
	if f.Fields == nil {
		f.Fields = make(map[string]FieldType)
	}
	f.Fields[strings.Clone(path)] = was | is
}

// unit adds a unit of a parameter, unless f has maxUnits units of that parameter, or has units of maxFields parameters.
func (f *Fingerprint) unit(parameter, unit string) {
	unit = strings.ToValidUTF8(unit[:min(len(unit), maxFieldName)], "")
	all := f.Units[parameter]
	if len(all) >= maxUnits || slices.Contains(all, unit) || len(f.Units) >= maxFields {
		return
	}
	if f.Units == nil {
		f.Units = make(map[string][]string)
	}
	f.Units[strings.Clone(parameter)] = append(all, strings.Clone(unit))
}

// Field adds a field of a record and its type to the fingerprint of the fetch.
func (r *Recorder) Field(path string, is FieldType) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fingerprint.field(path, is)
}

// Unit adds a unit of a parameter to the fingerprint of the fetch. The spelling of the unit is that of the source.
func (r *Recorder) Unit(parameter, unit string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fingerprint.unit(parameter, unit)
}

// Fingerprint returns the fields and units so far.
func (r *Recorder) Fingerprint() Fingerprint {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := Fingerprint{Fields: maps.Clone(r.fingerprint.Fields), Units: maps.Clone(r.fingerprint.Units)}
	for parameter, units := range f.Units {
		f.Units[parameter] = slices.Clone(units)
	}
	return f
}
