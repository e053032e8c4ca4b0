package config

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"
)

// valueKind is the form of a setting's value.
type valueKind int

const (
	scalar   valueKind = iota // one text
	list                      // several texts
	compound                  // a map, or a list of structs: YAML only
)

// setting is one leaf of the configuration struct.
type setting struct {
	Key   string
	Flag  string // empty when the setting has none
	Env   string // empty when the setting has none
	Help  string
	index []int
	typ   reflect.Type
	shape valueKind
}

var (
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	flagNames   = strings.NewReplacer(".", "-")
	envNames    = strings.NewReplacer(".", "_", "-", "_")

	durationType = reflect.TypeFor[time.Duration]()
	secretType   = reflect.TypeFor[Secret]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// settingsOf lists the leaves of a configuration struct in the order of its fields. An error means
// a mistake in the program, such as two settings with the same flag.
func settingsOf(t reflect.Type) ([]setting, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the configuration is a struct, not %s", t)
	}
	found, err := collect(t, "", nil)
	if err != nil {
		return nil, err
	}
	taken := map[string]string{}
	for _, s := range found {
		for _, name := range []string{s.Key, s.Flag, s.Env} {
			if other, ok := taken[name]; ok && name != "" && other != s.Key {
				return nil, fmt.Errorf("settings %s and %s share the name %s", other, s.Key, name)
			}
			taken[name] = s.Key
		}
	}
	return found, nil
}

// collect lists the settings of the struct t. `prefix` is the key of t, and `index` is the position of t in the root
// struct, as reflect.Value.FieldByIndex needs it.
func collect(t reflect.Type, prefix string, index []int) ([]setting, error) {
	var found []setting
	for i := range t.NumField() {
		f := t.Field(i)
		name, ok := tagOf(f)
		if !ok {
			continue
		}
		key := JoinKey(prefix, name)
		if !namePattern.MatchString(name) {
			return nil, fmt.Errorf("field %s.%s: %q is not a valid name of a setting: want lower-case words joined by hyphens", t, f.Name, name)
		}
		at := append(append([]int(nil), index...), i)
		if f.Type.Kind() == reflect.Struct && !isText(f.Type) {
			inner, err := collect(f.Type, key, at)
			if err != nil {
				return nil, err
			}
			found = append(found, inner...)
			continue
		}
		shape, ok := kindOfType(f.Type)
		if !ok {
			return nil, fmt.Errorf("setting %s: a %s cannot be configured", key, f.Type)
		}
		s := setting{Key: key, Help: f.Tag.Get("help"), index: at, typ: f.Type, shape: shape}
		if shape != compound {
			s.Env = EnvPrefix + strings.ToUpper(envNames.Replace(key))
			if f.Type != secretType {
				s.Flag = flagNames.Replace(key)
			}
		}
		found = append(found, s)
	}
	return found, nil
}

// tagOf returns the yaml tag of a field, which is the name of its setting. It returns false if the field is no setting.
func tagOf(f reflect.StructField) (string, bool) {
	name, ok := f.Tag.Lookup("yaml")
	return name, ok && f.IsExported() && name != "-"
}

// isText reports whether a type unmarshals itself from text.
func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textType) }

// kindOfType returns the form of the values of a type. It returns false if no setting can have the type.
func kindOfType(t reflect.Type) (valueKind, bool) {
	if isText(t) {
		return scalar, true
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return scalar, true
	case reflect.Slice:
		inner, ok := kindOfType(t.Elem())
		if ok && inner == scalar {
			return list, true
		}
		return compound, ok
	case reflect.Map:
		_, ok := kindOfType(t.Elem())
		return compound, ok && t.Key().Kind() == reflect.String
	case reflect.Struct:
		_, err := collect(t, "", nil)
		return compound, err == nil
	default:
		return scalar, false
	}
}
