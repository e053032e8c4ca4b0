package apidoc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"vayu/schema"
)

// rootFile is the main file of the contract, the OpenAPI description of the API. It refers to other files.
const rootFile = "openapi.yaml"

// Document returns the contract as one OpenAPI 3.1 document in JSON. Members have the same order as in the files.
func Document() ([]byte, error) {
	return bundle(schema.OpenAPI, jsontext.WithIndent(" "))
}

// bundle joins the files of the contract into one JSON document.
func bundle(files fs.FS, opts ...jsontext.Options) ([]byte, error) {
	var out bytes.Buffer
	b := bundler{files: files, read: map[string]*yaml.Node{}, out: jsontext.NewEncoder(&out, opts...)}
	root, err := b.file(rootFile)
	if err != nil {
		return nil, err
	}
	if err := b.write(root, rootFile); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// bundler writes YAML nodes as JSON. It replaces a reference to another file by the referenced content. A
// reference to rootFile becomes a reference within the document.
type bundler struct {
	files fs.FS
	read  map[string]*yaml.Node
	out   *jsontext.Encoder
	depth int
}

// maxDepth is the largest nesting of values, far more than the contract has. The limit detects cyclic YAML
// aliases and files that refer to each other.
const maxDepth = 200

func (b *bundler) file(name string) (*yaml.Node, error) {
	if node := b.read[name]; node != nil {
		return node, nil
	}
	text, err := fs.ReadFile(b.files, name)
	if err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(node.Content) != 1 {
		return nil, fmt.Errorf("reading %s: it is empty", name)
	}
	b.read[name] = node.Content[0]
	return node.Content[0], nil
}

func (b *bundler) write(node *yaml.Node, file string) error {
	if b.depth++; b.depth > maxDepth {
		return fmt.Errorf("%s:%d: it never ends", file, node.Line)
	}
	defer func() { b.depth-- }()
	switch node.Kind {
	case yaml.AliasNode:
		return b.write(node.Alias, file)
	case yaml.SequenceNode:
		if err := b.out.WriteToken(jsontext.BeginArray); err != nil {
			return err
		}
		for _, item := range node.Content {
			if err := b.write(item, file); err != nil {
				return err
			}
		}
		return b.out.WriteToken(jsontext.EndArray)
	case yaml.MappingNode:
		return b.writeMapping(node, file)
	default:
		return b.writeScalar(node, file)
	}
}

func (b *bundler) writeMapping(node *yaml.Node, file string) error {
	all, err := members(node, nil, maxDepth)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", file, node.Line, err)
	}
	for i, m := range all {
		if m.name != "$ref" || m.value.Kind != yaml.ScalarNode {
			continue
		}
		target, content, err := b.refer(m.value.Value, file)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, m.value.Line, err)
		}
		if content != nil {
			return b.write(content, target)
		}
		all[i].value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: target}
	}
	if err := b.out.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range all {
		if err := b.out.WriteToken(jsontext.String(m.name)); err != nil {
			return fmt.Errorf("%s:%d: %w", file, m.value.Line, err)
		}
		if err := b.write(m.value, file); err != nil {
			return err
		}
	}
	return b.out.WriteToken(jsontext.EndObject)
}

type member struct {
	name  string
	value *yaml.Node
}

// members appends the members of a mapping to `all`, including those that the mapping merges from other mappings. A
// later member replaces the value of an earlier member of the same name. It is an error if merges nest deeper than
// `depth`.
func members(node *yaml.Node, all []member, depth int) ([]member, error) {
	if depth == 0 {
		return nil, errors.New("its merges never end")
	}
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Tag == "!!merge" {
			if value.Kind == yaml.AliasNode {
				value = value.Alias
			}
			var err error
			if all, err = members(value, all, depth-1); err != nil {
				return nil, err
			}
			continue
		}
		at := slices.IndexFunc(all, func(m member) bool { return m.name == key.Value })
		if at < 0 {
			all = append(all, member{key.Value, value})
		} else {
			all[at].value = value
		}
	}
	return all, nil
}

// refer resolves a reference in a file. For a reference to rootFile, it returns a reference within the document and no
// node. For any other reference, it returns the name of the referenced file, and the referenced node.
func (b *bundler) refer(ref, file string) (string, *yaml.Node, error) {
	target, pointer, found := strings.Cut(ref, "#")
	if !found {
		return "", nil, fmt.Errorf("the reference %q names no place in a file", ref)
	}
	if target != "" {
		target = path.Join(path.Dir(file), target)
	} else {
		target = file
	}
	if target == rootFile {
		return "#" + pointer, nil, nil
	}
	node, err := b.file(target)
	if err != nil {
		return "", nil, err
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if node = child(node, name); node == nil {
			return "", nil, fmt.Errorf("the reference %q leads nowhere", ref)
		}
	}
	return target, node, nil
}

func child(node *yaml.Node, name string) *yaml.Node {
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// writeScalar writes a YAML scalar as JSON. Dates become strings, because JSON has no type for them.
func (b *bundler) writeScalar(node *yaml.Node, file string) error {
	var v any = node.Value
	if node.Tag != "!!timestamp" && node.Tag != "!!str" {
		if err := node.Decode(&v); err != nil {
			return fmt.Errorf("%s:%d: %w", file, node.Line, err)
		}
	}
	if err := json.MarshalEncode(b.out, v); err != nil {
		return fmt.Errorf("%s:%d: %w", file, node.Line, err)
	}
	return nil
}
