package config

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// decoder sets values from the sources in order of precedence. The first source that has a value wins,
// even if the value is invalid.
type decoder struct {
	source   string            // name of the source that is being read
	origins  map[string]Origin // origins of the values that a source has set, by key
	problems Problems
}

func (d *decoder) report(key string, line int, err error) {
	d.problems = append(d.problems, Problem{Key: key, Origin: Origin{d.source, line}, Err: err})
}

// decode sets v, the value of the setting `key`, from the node n. `line` is the line of the key in the file, or 0 for a
// flag or a variable. If a source of higher precedence has set a value, decode keeps that value.
func (d *decoder) decode(v reflect.Value, n *yaml.Node, key string, line int) {
	t := v.Type()
	shape, _ := kindOfType(t)
	if shape != compound {
		if _, isSet := d.origins[key]; isSet {
			return
		}
	}
	if t.Kind() != reflect.Struct || shape == scalar { // the fields of a struct have origins of their own
		d.origins[key] = Origin{d.source, line}
	}
	switch {
	case shape == scalar:
		if n.Kind != yaml.ScalarNode || IsNull(n) {
			d.mismatch(t, n, key, line)
		} else if err := fillText(v, n.Value); err != nil {
			d.report(key, line, err)
		}
	case t.Kind() == reflect.Slice:
		d.decodeList(v, n, key, line)
	case n.Kind != yaml.MappingNode:
		d.mismatch(t, n, key, line)
	case t.Kind() == reflect.Map:
		out := reflect.MakeMapWithSize(t, len(n.Content)/2)
		for k, item := range Pairs(n) {
			value := reflect.New(t.Elem()).Elem()
			d.element(value, item, JoinKey(key, k.Value), k.Line)
			out.SetMapIndex(reflect.ValueOf(k.Value).Convert(t.Key()), value)
		}
		v.Set(out)
	default:
		d.decodeStruct(v, n, key)
	}
}

// element decodes an element of a map or list, and records the element's origin. Fields that are
// missing in the element have the same origin.
func (d *decoder) element(v reflect.Value, n *yaml.Node, key string, line int) {
	d.decode(v, n, key, line)
	d.origins[key] = Origin{d.source, line}
}

func (d *decoder) decodeList(v reflect.Value, n *yaml.Node, key string, line int) {
	t := v.Type()
	items := n.Content
	if shape, _ := kindOfType(t); shape == list && n.Kind == yaml.ScalarNode && !IsNull(n) {
		items = splitList(n)
	} else if n.Kind != yaml.SequenceNode {
		d.mismatch(t, n, key, line)
		return
	}
	out := reflect.MakeSlice(t, len(items), len(items))
	for i, item := range items {
		d.element(out.Index(i), item, fmt.Sprintf("%s[%d]", key, i), item.Line)
	}
	v.Set(out)
}

func (d *decoder) decodeStruct(v reflect.Value, n *yaml.Node, key string) {
	fields := map[string]int{}
	for i := range v.NumField() {
		if name, ok := tagOf(v.Type().Field(i)); ok {
			fields[name] = i
		}
	}
	for k, item := range Pairs(n) {
		at := JoinKey(key, k.Value)
		i, ok := fields[k.Value]
		switch {
		case strings.Contains(k.Value, "."):
			d.report(at, k.Line, errDotted)
		case !ok:
			d.report(at, k.Line, UnknownKey(k.Value, slices.Collect(maps.Keys(fields))))
		case !IsNull(item):
			d.decode(v.Field(i), item, at, k.Line)
		}
	}
}

var errDotted = errors.New("a key with dots is written as nested mappings")

// mismatch reports a node that cannot be a value of type t, such as a list where t is a number.
func (d *decoder) mismatch(t reflect.Type, n *yaml.Node, key string, line int) {
	have := map[yaml.Kind]string{yaml.ScalarNode: "a single value", yaml.SequenceNode: "a list", yaml.MappingNode: "a mapping"}[n.Kind]
	if IsNull(n) {
		have = "nothing"
	}
	d.report(key, line, fmt.Errorf("want %s, have %s", describe(t), have))
}

// textNode returns a YAML node for a text, such as the value of a flag.
func textNode(text string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: line}
}

// splitList splits a comma-separated text. It trims blanks around items, and drops empty items.
func splitList(n *yaml.Node) []*yaml.Node {
	items := []*yaml.Node{}
	for item := range strings.SplitSeq(n.Value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, textNode(item, n.Line))
		}
	}
	return items
}

// fillText sets a scalar from its text. An error quotes the text, but no secret, because a Secret accepts every text.
func fillText(v reflect.Value, text string) error {
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		return u.UnmarshalText([]byte(text))
	}
	wrong := fmt.Errorf("%s is not %s", quote(text), describe(v.Type()))
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return wrong
		}
		v.SetBool(b)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return wrong
		}
		v.SetFloat(f)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		u, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return outOfRange(err, wrong)
		}
		v.SetUint(u)
	default:
		i, err := parseInt(text, v.Type())
		if err != nil {
			return outOfRange(err, wrong)
		}
		v.SetInt(i)
	}
	return nil
}

func parseInt(text string, t reflect.Type) (int64, error) {
	if t == durationType {
		d, err := time.ParseDuration(text)
		return int64(d), err
	}
	return strconv.ParseInt(text, 10, t.Bits())
}

// outOfRange returns the error `wrong`. If err means that a number is too large, the result ends with "out of range".
func outOfRange(err, wrong error) error {
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%w: out of range", wrong)
	}
	return wrong
}

// describe describes the values of a type in an error for the operator, such as "a whole number".
func describe(t reflect.Type) string {
	switch {
	case t == durationType:
		return `a duration such as "90s" or "24h"`
	case t == secretType:
		return "a text"
	case isText(t):
		return "a single value"
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	default:
		return "a whole number"
	}
}

// quote quotes a value for an error. It cuts a long value.
func quote(text string) string {
	const maxLength = 60
	if len(text) > maxLength {
		return strconv.Quote(text[:maxLength]) + "…"
	}
	return strconv.Quote(text)
}
