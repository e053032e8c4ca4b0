package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/knadh/koanf/maps"
	"go.yaml.in/yaml/v3"
)

// maxDepth limits the nesting of a file. The deepest setting is at level four. The limit stops a
// recursion through a hostile file.
const maxDepth = 32

var (
	errAlias  = errors.New("anchors, aliases and merge keys are not supported")
	errDotted = errors.New("a key with dots is written as nested mappings")
)

// node is a parsed value of any source.
type node struct {
	Text  string   // of a scalar
	Items []node   // of a list
	Pairs []pair   // of a mapping, in order
	Kind  nodeKind // which of the three it is
	Line  int      // in the file; 0 elsewhere
}

type pair struct {
	Key   string
	Value node
}

// nodeKind is the kind of a node.
type nodeKind int

const (
	aText nodeKind = iota
	aList
	aMapping
	aNull
)

func (w nodeKind) String() string {
	return [...]string{"a single value", "a list", "a mapping", "nothing"}[w]
}

func textNode(s string) node { return node{Text: s, Kind: aText} }

// yamlFile is the koanf.Parser of the configuration file. It has the settings, so that it reports a
// wrong key with its line. It adds errors of the file to problems and continues with the rest.
type yamlFile struct {
	name     string
	settings []setting
	problems *Problems
}

// Unmarshal returns the settings of the file as a nested map of values.
func (y *yamlFile) Unmarshal(text []byte) (map[string]any, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return map[string]any{}, nil
	} else if err != nil {
		return nil, Problems{{Origin: y.name, Err: err}}
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, Problems{{Origin: y.name, Err: errors.New("holds more than one YAML document")}}
	}
	root, line, err := convert(doc.Content[0], maxDepth)
	if err != nil {
		return nil, Problems{{Origin: y.at(line), Err: err}}
	}
	flat := map[string]any{}
	y.walk(root, "", flat)
	return maps.Unflatten(flat, "."), nil
}

// Marshal returns an error. koanf.Parser requires the method, but nothing calls it.
func (y *yamlFile) Marshal(map[string]any) ([]byte, error) {
	return nil, errors.New("a configuration file is read, never written")
}

// walk puts the settings in n, whose key is prefix, into flat. It reports keys that are no setting.
func (y *yamlFile) walk(n node, prefix string, flat map[string]any) {
	if n.Kind == aNull {
		return
	}
	if n.Kind != aMapping {
		y.report(prefix, n.Line, fmt.Errorf("want a mapping of settings, have %s", n.Kind))
		return
	}
	for _, p := range n.Pairs {
		key := join(prefix, p.Key)
		if strings.Contains(p.Key, ".") {
			y.report(key, p.Value.Line, errDotted)
			continue
		}
		switch y.known(key) {
		case isSetting:
			if p.Value.Kind != aNull {
				flat[key] = sourceValue{Value: p.Value, Origin: y.at(p.Value.Line)}
			}
		case isGroup:
			y.walk(p.Value, key, flat)
		default:
			y.report(key, p.Value.Line, unknown(key, y.settings))
		}
	}
}

type keyKind int

const (
	isUnknown keyKind = iota
	isSetting
	isGroup
)

func (y *yamlFile) known(key string) keyKind {
	for _, s := range y.settings {
		if s.Key == key {
			return isSetting
		}
		if strings.HasPrefix(s.Key, key+".") {
			return isGroup
		}
	}
	return isUnknown
}

func (y *yamlFile) at(line int) string { return fmt.Sprintf("%s line %d", y.name, line) }

func (y *yamlFile) report(key string, line int, err error) {
	*y.problems = append(*y.problems, Problem{Key: key, Origin: y.at(line), Err: err})
}

// convert copies a YAML node. Its error belongs to the returned line.
func convert(n *yaml.Node, depth int) (node, int, error) {
	out := node{Line: n.Line}
	if depth == 0 {
		return out, n.Line, fmt.Errorf("nests deeper than %d levels", maxDepth)
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return out, n.Line, errAlias
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		out.Kind = aNull
	case n.Kind == yaml.ScalarNode:
		out.Text = n.Value
	case n.Kind == yaml.SequenceNode:
		out.Kind = aList
		for _, item := range n.Content {
			v, line, err := convert(item, depth-1)
			if err != nil {
				return out, line, err
			}
			out.Items = append(out.Items, v)
		}
	default:
		out.Kind = aMapping
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			switch {
			case k.Kind != yaml.ScalarNode:
				return out, k.Line, errors.New("a key must be a single word")
			case k.ShortTag() == "!!merge":
				return out, k.Line, errAlias
			case seen[k.Value]:
				return out, k.Line, fmt.Errorf("key %q stands here twice", k.Value)
			}
			seen[k.Value] = true
			v, line, err := convert(n.Content[i+1], depth-1)
			if err != nil {
				return out, line, err
			}
			out.Pairs = append(out.Pairs, pair{Key: k.Value, Value: v})
		}
	}
	return out, 0, nil
}
