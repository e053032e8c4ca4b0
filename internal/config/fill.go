package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// fill sets v from n, a value of one source. On an error v keeps its default.
func fill(v reflect.Value, n node, key, origin string, problems *Problems) {
	wrong := func(err error) {
		*problems = append(*problems, Problem{Key: key, Origin: origin, Err: err})
	}
	t := v.Type()
	switch {
	case isText(t) || t.Kind() != reflect.Slice && t.Kind() != reflect.Map && t.Kind() != reflect.Struct:
		if n.Kind != aText {
			wrong(fmt.Errorf("want %s, have %s", describe(t), n.Kind))
			return
		}
		if err := fillText(v, n.Text); err != nil {
			wrong(err)
		}
	case t.Kind() == reflect.Slice:
		items := n.Items
		if shape, _ := kindOfType(t); n.Kind == aText && shape == list {
			items = splitList(n.Text)
		} else if n.Kind != aList {
			wrong(fmt.Errorf("want %s, have %s", describe(t), n.Kind))
			return
		}
		out := reflect.MakeSlice(t, len(items), len(items))
		for i, item := range items {
			fill(out.Index(i), item, fmt.Sprintf("%s[%d]", key, i), originOf(origin, n, item), problems)
		}
		v.Set(out)
	case n.Kind != aMapping:
		wrong(fmt.Errorf("want %s, have %s", describe(t), n.Kind))
	case t.Kind() == reflect.Map:
		out := reflect.MakeMapWithSize(t, len(n.Pairs))
		for _, p := range n.Pairs {
			value := reflect.New(t.Elem()).Elem()
			fill(value, p.Value, join(key, p.Key), originOf(origin, n, p.Value), problems)
			out.SetMapIndex(reflect.ValueOf(p.Key).Convert(t.Key()), value)
		}
		v.Set(out)
	default:
		fillStruct(v, n, key, origin, problems)
	}
}

// fillStruct sets a struct inside a map or a list.
func fillStruct(v reflect.Value, n node, key, origin string, problems *Problems) {
	names := map[string]int{}
	settings := []setting{}
	for i := range v.NumField() {
		if name, ok := tagOf(v.Type().Field(i)); ok {
			names[name] = i
			settings = append(settings, setting{Key: name})
		}
	}
	for _, p := range n.Pairs {
		at := originOf(origin, n, p.Value)
		i, ok := names[p.Key]
		switch {
		case !ok:
			*problems = append(*problems, Problem{Key: join(key, p.Key), Origin: at, Err: unknown(p.Key, settings)})
		case p.Value.Kind != aNull:
			fill(v.Field(i), p.Value, join(key, p.Key), at, problems)
		}
	}
}

// originOf returns origin, such as "vayu.yaml line 3", with the line of the inner node.
func originOf(origin string, outer, inner node) string {
	name, ok := strings.CutSuffix(origin, fmt.Sprintf(" line %d", outer.Line))
	if !ok || inner.Line == 0 {
		return origin
	}
	return fmt.Sprintf("%s line %d", name, inner.Line)
}

// splitList splits a comma-separated text; blanks around items are trimmed.
func splitList(text string) []node {
	items := []node{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, textNode(item))
		}
	}
	return items
}

// fillText sets a scalar from its text. Errors quote the text. A secret never fails.
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

// outOfRange distinguishes a number that is too large from a text that is not a number.
func outOfRange(err, wrong error) error {
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%w: out of range", wrong)
	}
	return wrong
}

// describe names a type in an error for the operator.
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

// quote quotes a value for an error; a long one is cut.
func quote(text string) string {
	const maxLength = 60
	if len(text) > maxLength {
		return strconv.Quote(text[:maxLength]) + "…"
	}
	return strconv.Quote(text)
}
