package config

import (
	"errors"
	"path/filepath"
	"sort"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

var errUnknown = errors.New("unknown setting")

// sourceValue is the value of a setting from one source. Its fields are exported because koanf copies
// values deeply.
type sourceValue struct {
	Value  node
	Origin string
}

// layer merges the sources in order of precedence, the lowest first. It returns the environment variables
// that have the prefix but are no setting.
func layer(into *koanf.Koanf, settings []setting, from Sources, problems *Problems) []string {
	load := func(p koanf.Provider, parser koanf.Parser, origin string) {
		var listed Problems
		switch err := into.Load(p, parser); {
		case errors.As(err, &listed):
			*problems = append(*problems, listed...)
		case err != nil:
			*problems = append(*problems, Problem{Origin: origin, Err: err})
		}
	}
	if from.File != "" {
		load(file.Provider(from.File), &yamlFile{name: filepath.Base(from.File), settings: settings, problems: problems}, from.File)
	}
	ignored := []string{}
	load(environment(settings, from.Environ, &ignored), nil, "environment")
	sort.Strings(ignored)
	if from.Flags != nil {
		load(posflag.ProviderWithFlag(from.Flags, ".", nil, flagReader(settings)), nil, "flags")
	}
	return ignored
}

// environment provides the variables that are settings, and collects the others that have the
// prefix.
func environment(settings []setting, environ []string, ignored *[]string) koanf.Provider {
	names := map[string]setting{}
	for _, s := range settings {
		if s.Env != "" {
			names[s.Env] = s
		}
	}
	return env.Provider(".", env.Opt{
		Prefix:      EnvPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			s, ok := names[name]
			if !ok {
				*ignored = append(*ignored, name)
			}
			if !ok || value == "" {
				return "", nil
			}
			return s.Key, sourceValue{Value: textNode(value), Origin: "environment " + name}
		},
	})
}

// flagReader returns a function with which koanf reads the flags that were set on the command line.
func flagReader(settings []setting) func(*pflag.Flag) (string, any) {
	names := map[string]setting{}
	for _, s := range settings {
		if s.Flag != "" {
			names[s.Flag] = s
		}
	}
	return func(f *pflag.Flag) (string, any) {
		s, ok := names[f.Name]
		if !ok || !f.Changed {
			return "", nil
		}
		return s.Key, sourceValue{Value: textNode(f.Value.String()), Origin: "flag --" + f.Name}
	}
}
