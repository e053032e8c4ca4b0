// Package config fills one typed struct from flags, the environment, a YAML
// file and defaults, in this order of precedence.
//
// A setting is a field with a yaml tag. Its key consists of the tags on the path from the root struct to the field,
// joined by dots. The key alone determines the names of the setting in each source:
//
//	key          engine.max-memory
//	flag         --engine-max-memory       dots become dashes
//	environment  VAYU_ENGINE_MAX_MEMORY    dots and dashes become underscores
//	YAML         engine:
//	               max-memory: 2GiB
//
// Two keys that would share a flag or a variable are an error. A value has the same syntax in every source: durations
// are Go's ("90s", "24h"), sizes "512MiB", lists are separated by commas. YAML can also have a sequence. An empty
// variable, and null in YAML, count as not set.
//
// Secrets have no flag, because command lines are visible to all users of a
// machine. Maps, and lists of structs, are supported in the file only.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// EnvPrefix is the beginning of the name of every environment variable that is a setting.
const EnvPrefix = "VAYU_"

// Sources are the sources of settings; Load skips a source that is empty.
type Sources struct {
	// Flags are the parsed flags that Bind registered. Flags that are absent from the command line have no effect.
	Flags *pflag.FlagSet
	// Environ is the environment as os.Environ returns it.
	Environ []string
	// File is the path of a YAML file. It must exist.
	File string
}

// Validator is implemented by structs with rules that their types cannot express. Load calls Validate after all values
// are set. Create each error with Invalid, so that the error names the key of the setting.
type Validator interface {
	Validate() []error
}

// Loaded is a configuration that Load has loaded, with the origin of each value.
type Loaded[T any] struct {
	// Value is the effective configuration.
	Value T
	// Ignored lists environment variables that begin with EnvPrefix but are no setting. They are not errors, because
	// container platforms add such variables (VAYU_PORT for a service named vayu). The caller should log them.
	Ignored []string

	settings []setting
	origins  map[string]Origin
}

// Load starts from defaults and overrides them by the file, the environment and the flags. It reports all problems in
// one error of type Problems. Any other error means that T is not a valid configuration struct.
func Load[T any](defaults T, from Sources) (Loaded[T], error) {
	d := &decoder{origins: map[string]Origin{}}
	out := Loaded[T]{Value: defaults, origins: d.origins}
	settings, err := settingsOf(reflect.TypeFor[T]())
	if err != nil {
		return out, err
	}
	out.settings = settings
	root := reflect.ValueOf(&out.Value).Elem()
	d.flags(root, settings, from.Flags) // first, because the decoder keeps the first source of a value
	out.Ignored = d.environment(root, settings, from.Environ)
	d.file(root, from.File)
	validate(root, "", out.origin, &d.problems)
	if len(d.problems) > 0 {
		return out, d.problems
	}
	return out, nil
}

// flags sets the values of the flags that were given on the command line.
func (d *decoder) flags(root reflect.Value, settings []setting, flags *pflag.FlagSet) {
	if flags == nil {
		return
	}
	flags.Visit(func(f *pflag.Flag) {
		i := slices.IndexFunc(settings, func(s setting) bool { return s.Flag == f.Name })
		if i >= 0 {
			d.source = "flag --" + f.Name
			d.decode(root.FieldByIndex(settings[i].index), textNode(f.Value.String(), 0), settings[i].Key, 0)
		}
	})
}

// environment sets the values of the settings that have a variable in environ. It returns the names
// of the variables that begin with EnvPrefix but are no setting.
func (d *decoder) environment(root reflect.Value, settings []setting, environ []string) []string {
	var ignored []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, EnvPrefix) {
			continue
		}
		i := slices.IndexFunc(settings, func(s setting) bool { return s.Env == name })
		switch {
		case i < 0:
			ignored = append(ignored, name)
		case value != "":
			d.source = "environment " + name
			d.decode(root.FieldByIndex(settings[i].index), textNode(value, 0), settings[i].Key, 0)
		}
	}
	slices.Sort(ignored)
	return slices.Compact(ignored)
}

// file sets the values of a YAML file. If path is empty, it does nothing.
func (d *decoder) file(root reflect.Value, path string) {
	if path == "" {
		return
	}
	d.source = filepath.Base(path)
	text, err := os.ReadFile(path)
	if err != nil {
		d.report("", 0, err)
		return
	}
	n, problems := ParseYAML(d.source, text)
	d.problems = append(d.problems, problems...)
	if n != nil && !IsNull(n) {
		d.decode(root, n, "", n.Line)
	}
}

// Origin returns the source of a key's value: "flag --listen", "environment VAYU_LISTEN",
// "vayu.yaml line 3" or "default".
func (l Loaded[T]) Origin(key string) string { return l.origin(key).String() }

// origin returns the source of a key's value. If the value has no source of its own, origin returns the source of
// the mapping or list that contains the value. Without either, it returns "default".
func (l Loaded[T]) origin(key string) Origin {
	for k := key; ; {
		if origin, ok := l.origins[k]; ok && k != "" {
			return origin
		}
		cut := strings.LastIndexAny(k, ".[")
		if cut < 0 {
			return Origin{Source: "default"}
		}
		k = k[:cut]
	}
}

// validate calls the Validator of v and of every struct inside v, and collects their errors.
func validate(v reflect.Value, key string, origin func(string) Origin, problems *Problems) {
	switch v.Kind() {
	case reflect.Struct:
		if isText(v.Type()) {
			return
		}
		for i := range v.NumField() {
			if name, ok := tagOf(v.Type().Field(i)); ok {
				validate(v.Field(i), JoinKey(key, name), origin, problems)
			}
		}
		validateStruct(v, key, origin, problems)
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			validate(v.MapIndex(k), JoinKey(key, k.String()), origin, problems)
		}
	case reflect.Slice:
		for i := range v.Len() {
			validate(v.Index(i), fmt.Sprintf("%s[%d]", key, i), origin, problems)
		}
	default:
	}
}

// validateStruct collects the errors of one struct. It prefixes the key of each error with `key`, the struct's key.
func validateStruct(v reflect.Value, key string, origin func(string) Origin, problems *Problems) {
	p := reflect.New(v.Type()) // Validate may have a pointer receiver
	p.Elem().Set(v)
	check, ok := reflect.TypeAssert[Validator](p)
	if !ok {
		return
	}
	for _, err := range check.Validate() {
		problem := Problem{Key: key, Err: err}
		if named, ok := errors.AsType[Problem](err); ok {
			problem = named
			problem.Key = JoinKey(key, named.Key)
		}
		if problem.Origin.Source == "" {
			problem.Origin = origin(problem.Key)
		}
		*problems = append(*problems, problem)
	}
}
