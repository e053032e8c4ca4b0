package httpapi

import (
	"github.com/go-json-experiment/json/jsontext"

	"vayu/schema"
)

// HasValue reports whether a field is present in a body. A field with null counts as absent.
func HasValue(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != jsontext.KindNull }

// Text returns the value of a JSON string. If v is of another type, it returns false and adds a fault to f.
func Text(f *schema.RequestErrors, field string, v jsontext.Value) (text string, ok bool) {
	if v.Kind() != jsontext.KindString {
		f.Add(field, field+" must be text.")
		return "", false
	}
	raw, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		f.Add(field, "The "+field+" cannot be read.")
		return "", false
	}
	return string(raw), true
}

// Ref reads the field ref_id, the client's reference for an order. It returns "" if the field is absent. If the
// field is invalid, it returns "" and adds a fault to f.
func Ref(f *schema.RequestErrors, v jsontext.Value) string {
	const field = "ref_id"
	if !HasValue(v) {
		return ""
	}
	text, ok := Text(f, field, v)
	if ok && !schema.IsRef(text) {
		f.Add(field, "The ref_id has 1 to 255 characters, and no control characters.")
		return ""
	}
	return text
}
