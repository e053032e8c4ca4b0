package sample

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"vayu/ingest/fetch"
	"vayu/ingest/source/described/record"
)

const (
	// mostRecords is the largest number of records that are examined.
	mostRecords = 300
	// Deepest is the largest number of names in a path.
	Deepest = 6
	// MostFields is the largest number of fields that are examined. An object may have many more if its names are data,
	// such as ids.
	MostFields = 400
	// fewElements is the largest length of a list whose elements count as fields, as in a pair of coordinates.
	fewElements = 4
)

// bom is the byte order mark, which .NET servers write before JSON.
var bom = []byte("\xef\xbb\xbf")

// Document is a decoded reply.
type Document struct {
	Root gjson.Result
	// Table is the form of a table of text, whose rows are lists in Root. For JSON, Table is nil.
	Table *Table

	header []string
}

// Decode decodes a body. If the body is neither JSON nor a table, the error states what the body is.
func Decode(body []byte) (Document, error) {
	body = bytes.TrimPrefix(body, bom)
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return Document{}, errors.New("the reply is empty")
	case fetch.IsHTML(body):
		return Document{}, errors.New("the reply is a web page (HTML), no data: find the address of the API, not of its documentation")
	case !jsontext.Value(body).IsValid():
		if d, ok := decodeTable(body); ok && body[0] != '{' && body[0] != '[' {
			return d, nil
		}
		if !utf8.Valid(body) {
			return Document{}, errors.New("the reply is not UTF-8")
		}
		return Document{}, errors.New("the reply is neither a table of text nor JSON, is cut off, or has a duplicate name")
	}
	return Document{Root: gjson.ParseBytes(body)}, nil
}

// Place is a position in a reply at which the records may be.
type Place struct {
	At      string // path of the records
	Shape   string
	Columns string // path of the names of the columns, for a table in JSON
	Each    string // path of a list inside a record; "" for none
	Count   int
	Listed  []gjson.Result // the first records
	Keys    []string       // keys of the first records, if the records are in a map
	Header  []string       // names of the columns of a table
}

// Places returns all places in a reply where records may be.
func (d Document) Places() []Place {
	var all []Place
	if d.Table != nil {
		rows := d.Root.Array()
		return []Place{{Shape: ShapeCSV, Count: len(rows), Listed: rows, Header: d.header}}
	}
	d.find(d.Root, "@this", 0, &all)
	if d.Root.IsObject() {
		all = append(all, Place{At: "@this", Shape: record.ShapeObject, Count: 1, Listed: []gjson.Result{d.Root}})
	}
	for _, p := range slices.Clone(all) {
		if p.Shape != record.ShapeTable {
			all = append(all, p.nested()...)
		}
	}
	return all
}

// find searches a value, and all values inside it, for lists, tables and maps that may be the records. It appends each
// to the list `all`.
func (d Document) find(v gjson.Result, at string, depth int, all *[]Place) {
	switch {
	case depth > Deepest:
		return
	case v.IsArray():
		rows := v.Array()
		if len(rows) == 0 {
			return
		}
		p := Place{At: at, Shape: record.ShapeList, Count: len(rows), Listed: rows[:min(len(rows), mostRecords)]}
		if rows[0].IsArray() {
			if p.Columns, p.Header = d.columnsFor(len(rows[0].Array())); p.Columns == "" {
				return
			}
			p.Shape = record.ShapeTable
		} else if !rows[0].IsObject() {
			return
		}
		*all = append(*all, p)
		return
	case !v.IsObject():
		return
	}
	if p, ok := asMap(v, at); ok {
		*all = append(*all, p)
	}
	count := 0
	v.ForEach(func(key, value gjson.Result) bool {
		count++
		d.find(value, join(at, key.Str), depth+1, all)
		return count < MostFields
	})
}

// columnsFor finds the names of the columns of a table with n columns: a member of the reply that is a list of n texts.
func (d Document) columnsFor(n int) (path string, names []string) {
	d.Root.ForEach(func(key, value gjson.Result) bool {
		all := value.Array()
		if !value.IsArray() || len(all) != n || slices.ContainsFunc(all, func(v gjson.Result) bool { return v.Type != gjson.String }) {
			return true
		}
		path = gjson.Escape(key.Str)
		for _, v := range all {
			names = append(names, v.Str)
		}
		return false
	})
	return path, names
}

// asMap returns the members of an object as records. It returns false if they are not two or more similar objects.
func asMap(v gjson.Result, at string) (Place, bool) {
	p := Place{At: at, Shape: record.ShapeMap}
	names := make(map[string]int)
	similar := true
	v.ForEach(func(key, value gjson.Result) bool {
		if similar = value.IsObject(); !similar {
			return false
		}
		p.Count++
		if len(p.Listed) < mostRecords {
			p.Listed, p.Keys = append(p.Listed, value), append(p.Keys, key.Str)
			value.ForEach(func(name, _ gjson.Result) bool {
				names[name.Str]++
				return true
			})
		}
		return true
	})
	shared := 0
	for _, n := range names {
		if n*2 > len(p.Listed) {
			shared++
		}
	}
	return p, similar && p.Count > 1 && shared*2 > len(names)
}

// nested returns a copy of p for each list of objects in its first 20 records, with the path of the list as p.Each.
func (p Place) nested() []Place {
	paths := make(map[string]bool)
	var all []Place
	for _, r := range p.Listed[:min(len(p.Listed), 20)] {
		EachMember(r, "", 0, func(path string, v gjson.Result) {
			if v.IsArray() && len(v.Array()) > 0 && v.Array()[0].IsObject() && !paths[path] {
				paths[path] = true
				inner := p
				inner.Each = path
				all = append(all, inner)
			}
		})
	}
	return all
}

// EachMember calls `visit` for each member of an object and, recursively down to [Deepest], of the objects in it.
func EachMember(v gjson.Result, prefix string, depth int, visit func(path string, v gjson.Result)) {
	if depth > Deepest || !v.IsObject() {
		return
	}
	count := 0
	v.ForEach(func(key, value gjson.Result) bool {
		count++
		path := join(prefix, key.Str)
		visit(path, value)
		EachMember(value, path, depth+1, visit)
		return count < MostFields
	})
}

// join returns the path of a member with the given name.
func join(path, name string) string {
	if path == "" || path == "@this" {
		return gjson.Escape(name)
	}
	return path + "." + gjson.Escape(name)
}

// Fields returns the fields of the records, in the order in which the reply has them.
func (p Place) Fields() []*Field {
	all := make(map[string]*Field)
	var order []*Field
	note := func(path, name string, record int, v gjson.Result) {
		f := all[path]
		if f == nil {
			if len(all) >= MostFields {
				return
			}
			f = &Field{Path: path, Name: name}
			all[path] = f
			order = append(order, f)
		}
		f.Add(record, v)
	}
	for i, r := range p.Listed {
		if p.Keys != nil {
			note("key", "key", i, gjson.Result{Type: gjson.String, Str: p.Keys[i]})
		}
		if p.Header != nil {
			for j, v := range r.Array() {
				if j < len(p.Header) {
					note(p.Header[j], p.Header[j], i, v)
				}
			}
			continue
		}
		p.scalars(r, "", "", i, note)
		if p.Each != "" {
			for _, element := range r.Get(p.Each).Array() {
				p.scalars(element, "each", "", i, note)
			}
		}
	}
	return order
}

// Outside returns the fields of the reply that are not part of the records.
func (d Document) Outside(p Place) []*Field {
	if p.At == "@this" || !d.Root.IsObject() {
		return nil
	}
	var all []*Field
	EachMember(d.Root, "", 0, func(path string, v gjson.Result) {
		if path == p.At || strings.HasPrefix(path, p.At+".") || v.IsObject() || v.IsArray() || len(all) >= MostFields {
			return
		}
		f := &Field{Path: "reply." + path, Name: path[strings.LastIndexByte(path, '.')+1:]}
		f.Add(0, v)
		all = append(all, f)
	})
	return all
}

// HasSeries reports whether the reply has a list of more than fewElements values that has the name of a parameter.
func (d Document) HasSeries(isParameter func(name string) bool) bool {
	found := false
	EachMember(d.Root, "", 0, func(path string, v gjson.Result) {
		if !v.IsArray() || len(v.Array()) <= fewElements || v.Array()[0].IsObject() || v.Array()[0].IsArray() {
			return
		}
		found = found || isParameter(path[strings.LastIndexByte(path, '.')+1:])
	})
	return found
}

// Without returns the reply without its records, and with null as its cursor. `next` is the path of the cursor, or ""
// if there is none. A test case uses the result as the last page.
func (p Place) Without(reply []byte, next string) ([]byte, error) {
	switch {
	case p.Shape == ShapeCSV:
		header, _, _ := bytes.Cut(reply, []byte{'\n'})
		return header, nil
	case p.At == "@this":
		return []byte("[]"), nil
	}
	empty := "[]"
	if p.Shape == record.ShapeMap {
		empty = "{}"
	}
	out, err := sjson.SetRawBytes(bytes.Clone(bytes.TrimPrefix(reply, bom)), p.At, []byte(empty))
	if err == nil && next != "" {
		out, err = sjson.SetRawBytes(out, next, []byte("null"))
	}
	if err != nil {
		return nil, fmt.Errorf("making the last page: %w", err)
	}
	return out, nil
}

// scalars calls the function `note` for each scalar value in an object, its short lists and the objects inside it.
func (p Place) scalars(v gjson.Result, prefix, name string, record int, note func(path, name string, record int, v gjson.Result)) {
	depth := strings.Count(prefix, ".")
	switch {
	case depth > Deepest || p.Each != "" && prefix == p.Each:
		return
	case v.IsObject():
		v.ForEach(func(key, value gjson.Result) bool {
			path := join(prefix, key.Str)
			if prefix == "" && slices.Contains([]string{"each", "reply", "part", "listed", "record", "key"}, key.Str) {
				path = "record." + path
			}
			p.scalars(value, path, key.Str, record, note)
			return true
		})
	case v.IsArray():
		elements := v.Array()
		if len(elements) > fewElements {
			return
		}
		for i, element := range elements {
			if !element.IsObject() && !element.IsArray() {
				note(prefix+"."+strconv.Itoa(i), name, record, element)
			}
		}
	case prefix != "":
		note(prefix, name, record, v)
	}
}
