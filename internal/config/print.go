package config

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Print writes the effective configuration as YAML, each setting with its origin in a comment. Secrets are masked.
func (l Loaded[T]) Print(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	value := reflect.ValueOf(l.Value)
	for _, s := range l.settings {
		var leaf yaml.Node
		if err := leaf.Encode(plain(value.FieldByIndex(s.index))); err != nil {
			return fmt.Errorf("printing setting %q: %w", s.Key, err)
		}
		name := &yaml.Node{Kind: yaml.ScalarNode, Value: s.Key}
		group := root
		for head, rest, ok := strings.Cut(s.Key, "."); ok; head, rest, ok = strings.Cut(rest, ".") {
			group, name.Value = inside(group, head), rest
		}
		if leaf.Kind == yaml.ScalarNode || len(leaf.Content) == 0 {
			leaf.LineComment = l.Origin(s.Key)
		} else {
			name.LineComment = l.Origin(s.Key)
		}
		group.Content = append(group.Content, name, &leaf)
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return fmt.Errorf("printing the configuration: %w", err)
	}
	return enc.Close()
}

// inside returns the mapping under the key `name` in group, and creates it if missing.
func inside(group *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(group.Content); i += 2 {
		if group.Content[i].Value == name {
			return group.Content[i+1]
		}
	}
	inner := &yaml.Node{Kind: yaml.MappingNode}
	group.Content = append(group.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, inner)
	return inner
}

// plain converts a value into its YAML form: struct fields under the names in their tags, durations
// and sizes as texts, secrets masked.
func plain(v reflect.Value) any {
	t := v.Type()
	switch {
	case isText(t) || t == durationType:
		return fmt.Sprint(v.Interface())
	case t.Kind() == reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i))
		}
		return out
	case t.Kind() == reflect.Map:
		out := make(map[string]any, v.Len())
		for _, k := range v.MapKeys() {
			out[k.String()] = plain(v.MapIndex(k))
		}
		return out
	case t.Kind() == reflect.Struct:
		out := map[string]any{}
		for i := range t.NumField() {
			if name, ok := tagOf(t.Field(i)); ok {
				out[name] = plain(v.Field(i))
			}
		}
		return out
	default:
		return v.Interface()
	}
}
