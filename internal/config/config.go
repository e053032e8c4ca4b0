// Package config fills one typed struct from flags, the environment, a YAML
// file and defaults, in this order of precedence.
//
// A setting is a field with a koanf tag; its key is the tags on the way to it,
// joined by dots. The key alone decides its other names:
//
//	key          engine.max-memory
//	flag         --engine-max-memory       dots become dashes
//	environment  VAYU_ENGINE_MAX_MEMORY    dots and dashes become underscores
//	YAML         engine:
//	               max-memory: 2GiB
//
// Two keys that would share a flag or a variable are an error. A value has the
// same syntax in every source: durations are Go's ("90s", "24h"), sizes
// "512MiB", lists are separated by commas outside YAML. An empty variable, and
// null in YAML, count as not set.
//
// Secrets have no flag, because command lines are visible to all users of a
// machine. Maps, and lists of structs, are supported in the file only.
package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// EnvPrefix begins the name of every environment variable that is a setting.
const EnvPrefix = "VAYU_"

// Sources are the sources of settings; Load skips an empty one.
type Sources struct {
	// Flags holds the parsed flags that Bind registered. Only flags that were given on the command
	// line count.
	Flags *pflag.FlagSet
	// Environ is the environment as os.Environ returns it.
	Environ []string
	// File is the path of a YAML file. It must exist.
	File string
}

// Validator is implemented by structs with rules that their types cannot express. Load calls it on every
// struct, after all values are set. Create each error with Invalid, so that it names its key.
type Validator interface {
	Validate() []error
}

// Loaded is the result of Load.
type Loaded[T any] struct {
	// Value is the effective configuration.
	Value T
	// Ignored lists environment variables that begin with EnvPrefix but are no setting. They are
	// not errors, because container platforms add such variables (VAYU_PORT for a service named
	// vayu). They should be logged.
	Ignored []string

	settings []setting
	origins  map[string]string
}

// Load starts from defaults and overrides them by the file, the environment and the flags. It
// reports all problems in one error of type Problems. Any other error is a fault of T itself.
func Load[T any](defaults T, from Sources) (Loaded[T], error) {
	out := Loaded[T]{Value: defaults, origins: map[string]string{}}
	settings, err := settingsOf(reflect.TypeFor[T]())
	if err != nil {
		return out, err
	}
	out.settings = settings

	var problems Problems
	merged := koanf.New(".")
	out.Ignored = layer(merged, settings, from, &problems)
	root := reflect.ValueOf(&out.Value).Elem()
	for _, s := range settings {
		g, ok := merged.Get(s.Key).(sourceValue)
		if !ok {
			continue
		}
		out.origins[s.Key] = g.Origin
		fill(root.FieldByIndex(s.index), g.Value, s.Key, g.Origin, &problems)
	}
	validate(root, "", out.Origin, &problems)
	if len(problems) > 0 {
		return out, problems
	}
	return out, nil
}

// Origin returns the source of a key's value: "flag --listen", "environment VAYU_LISTEN",
// "vayu.yaml line 3" or "default".
func (l Loaded[T]) Origin(key string) string {
	for k := key; ; {
		if origin, ok := l.origins[k]; ok {
			return origin
		}
		cut := strings.LastIndexAny(k, ".[")
		if cut < 0 {
			return "default"
		}
		k = k[:cut]
	}
}

// validate calls the Validator of v and of every struct inside v, and collects their errors.
func validate(v reflect.Value, key string, origin func(string) string, problems *Problems) {
	switch v.Kind() {
	case reflect.Struct:
		if isText(v.Type()) {
			return
		}
		for i := range v.NumField() {
			if name, ok := tagOf(v.Type().Field(i)); ok {
				validate(v.Field(i), join(key, name), origin, problems)
			}
		}
		validateStruct(v, key, origin, problems)
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			validate(v.MapIndex(k), join(key, k.String()), origin, problems)
		}
	case reflect.Slice:
		for i := range v.Len() {
			validate(v.Index(i), fmt.Sprintf("%s[%d]", key, i), origin, problems)
		}
	default:
	}
}

// validateStruct collects the errors of one struct and completes their keys.
func validateStruct(v reflect.Value, key string, origin func(string) string, problems *Problems) {
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
			problem.Key = join(key, named.Key)
		}
		if problem.Origin == "" {
			problem.Origin = origin(problem.Key)
		}
		*problems = append(*problems, problem)
	}
}

// join adds a name to a key.
func join(key, name string) string {
	if key == "" || name == "" {
		return key + name
	}
	return key + "." + name
}
