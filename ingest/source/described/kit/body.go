package kit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"vayu/ingest/source/described"
	"vayu/ingest/source/described/record"
)

// bom is the byte order mark, which .NET servers write before JSON.
var bom = []byte("\xef\xbb\xbf")

// records returns the records in a body as raw JSON, or nil if they are neither in a list nor in a table.
func records(l *described.ListOutline, body []byte) []string {
	if l.Records.Shape != record.ShapeList && l.Records.Shape != record.ShapeTable {
		return nil
	}
	all := []string{}
	gjson.ParseBytes(bytes.TrimPrefix(body, bom)).Get(l.Records.At).ForEach(func(_, value gjson.Result) bool {
		all = append(all, value.Raw)
		return true
	})
	return all
}

// withRecords returns a copy of a body with the records in `all` in place of its own.
func withRecords(l *described.ListOutline, body []byte, all []string) ([]byte, error) {
	list := "[" + strings.Join(all, ",") + "]"
	if l.Records.At == "@this" {
		return []byte(list), nil
	}
	return set(body, l.Records.At, list)
}

// set returns a copy of a JSON text with the value `raw` at a path.
func set(body []byte, path, raw string) ([]byte, error) {
	out, err := sjson.SetRawBytes(bytes.Clone(bytes.TrimPrefix(body, bom)), path, []byte(raw))
	if err != nil {
		return nil, fmt.Errorf("rewriting a recorded reply at %q: %w", path, err)
	}
	return out, nil
}

// rename returns a copy of a body in which the field at a path has another name in all records.
func rename(l *described.ListOutline, body []byte, path string) ([]byte, error) {
	if rest, ofReply := strings.CutPrefix(path, "reply."); ofReply {
		out, err := move(string(body), rest, "renamed_field")
		return []byte(out), err
	}
	if path == "key" || strings.HasPrefix(path, "part.") || strings.HasPrefix(path, "listed.") {
		return body, nil // the field is not in the records of this list
	}
	if path == l.Records.Each || l.Records.Shape != record.ShapeTable {
		return renameInRecords(l, body, path)
	}
	for i, name := range gjson.GetBytes(body, l.Records.Columns).Array() {
		if name.String() == path {
			return set(body, l.Records.Columns+"."+strconv.Itoa(i), `"renamed_field"`)
		}
	}
	return body, nil
}

func renameInRecords(l *described.ListOutline, body []byte, path string) ([]byte, error) {
	if all := records(l, body); all != nil {
		for i := range all {
			var err error
			if all[i], err = renameOne(all[i], path, l.Records.Each); err != nil {
				return nil, err
			}
		}
		return withRecords(l, body, all)
	}
	root := gjson.ParseBytes(bytes.TrimPrefix(body, bom))
	found := root.Get(l.Records.At)
	renamed := found.Raw
	if l.Records.Shape == record.ShapeObject {
		var err error
		if renamed, err = renameOne(renamed, path, l.Records.Each); err != nil {
			return nil, err
		}
	} else {
		for key, value := range found.Map() {
			one, err := renameOne(value.Raw, path, l.Records.Each)
			if err == nil {
				renamed, err = sjson.SetRaw(renamed, escape(key), one)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if l.Records.At == "@this" {
		return []byte(renamed), nil
	}
	return set(body, l.Records.At, renamed)
}

// renameOne renames a field of a record. If the field belongs to the elements of the list `each`, renameOne renames it
// in every element.
func renameOne(record, path, each string) (string, error) {
	rest, inEach := strings.CutPrefix(path, "each.")
	if !inEach {
		return move(record, strings.TrimPrefix(path, "record."), "renamed_field")
	}
	for i := range gjson.Get(record, each).Array() {
		var err error
		element := each + "." + strconv.Itoa(i) + "."
		if record, err = move(record, element+rest, element+"renamed_field"); err != nil {
			return "", err
		}
	}
	return record, nil
}

// move moves a value in a JSON text from one path to another. Without such a value, it returns the text unchanged.
func move(text, from, to string) (string, error) {
	value := gjson.Get(text, from)
	if !value.Exists() {
		return text, nil
	}
	out, err := sjson.Delete(text, from)
	if err == nil {
		out, err = sjson.SetRaw(out, to, value.Raw)
	}
	if err != nil {
		return "", fmt.Errorf("rewriting a recorded reply at %q: %w", from, err)
	}
	return out, nil
}

// escape returns a key in the form that it has in a JSON path.
func escape(key string) string {
	return strings.NewReplacer(".", `\.`, "*", `\*`, "?", `\?`).Replace(key)
}
