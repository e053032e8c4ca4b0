package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Bind registers the flags of the given keys of T, with the defaults and with the help texts of T.
// Without keys it registers the flags of every key. It returns an error for a key without a flag
// and for a flag that is already registered.
func Bind[T any](flags *pflag.FlagSet, defaults T, keys ...string) error {
	settings, err := settingsOf(reflect.TypeFor[T]())
	if err != nil {
		return err
	}
	for _, key := range keys {
		if !slices.ContainsFunc(settings, func(s setting) bool { return s.Key == key && s.Flag != "" }) {
			return fmt.Errorf("setting %q has no flag", key)
		}
	}
	root := reflect.ValueOf(defaults)
	for _, s := range settings {
		if s.Flag == "" || len(keys) > 0 && !slices.Contains(keys, s.Key) {
			continue
		}
		if flags.Lookup(s.Flag) != nil {
			return fmt.Errorf("flag --%s of setting %q is taken", s.Flag, s.Key)
		}
		f := flags.VarPF(&flagText{text: textOf(root.FieldByIndex(s.index)), kind: kindOf(s)}, s.Flag, "", s.Help)
		if s.typ.Kind() == reflect.Bool && !isText(s.typ) { // this flag needs no value; a Switch needs one, such as "on"
			f.NoOptDefVal = "true"
		}
	}
	return nil
}

// flagText is the value of a flag as text. Load parses the text, as it does for every other source of a setting.
type flagText struct{ text, kind string }

// String returns the unparsed text. It implements pflag.Value.
func (f *flagText) String() string { return f.text }

// Set stores the text.
func (f *flagText) Set(text string) error {
	f.text = text
	return nil
}

// Type is the type of the value in the help text.
func (f *flagText) Type() string { return f.kind }

func kindOf(s setting) string {
	switch {
	case s.shape == list:
		return "list"
	case s.typ == durationType:
		return "duration"
	case s.typ == reflect.TypeFor[Size]():
		return "size"
	case s.typ == reflect.TypeFor[Address]():
		return "host:port"
	case s.typ.Kind() == reflect.Bool:
		return "bool"
	case s.typ.Kind() == reflect.String || isText(s.typ):
		return "text"
	default:
		return "number"
	}
}

// textOf formats a scalar or a list as the text of a flag.
func textOf(v reflect.Value) string {
	if v.Kind() == reflect.Slice && !isText(v.Type()) {
		items := make([]string, v.Len())
		for i := range items {
			items[i] = textOf(v.Index(i))
		}
		return strings.Join(items, ",")
	}
	return fmt.Sprint(v.Interface())
}
