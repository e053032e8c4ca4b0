package apidoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"vayu/schema"
)

// rootFile is the main file of the contract, the OpenAPI description of the API. It refers to other files.
const rootFile = "openapi.yaml"

// Document returns the contract as one OpenAPI 3.1 document in JSON. Members have the same order as in the
// files.
func Document() ([]byte, error) {
	tree, err := bundle(schema.OpenAPI)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, tree.json(nil), "", " "); err != nil {
		return nil, fmt.Errorf("writing the contract: %w", err)
	}
	return out.Bytes(), nil
}

// bundle joins the files of the contract to one value.
func bundle(files fs.FS) (*value, error) {
	b := bundler{files: files, read: map[string]*yaml.Node{}}
	root, err := b.file(rootFile)
	if err != nil {
		return nil, err
	}
	return b.value(root, rootFile)
}

// bundler converts YAML nodes to values. It replaces a reference to another file by the referenced content. A
// reference to rootFile becomes a reference within the document.
type bundler struct {
	files fs.FS
	read  map[string]*yaml.Node
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

func (b *bundler) value(node *yaml.Node, file string) (*value, error) {
	if b.depth++; b.depth > maxDepth {
		return nil, fmt.Errorf("%s:%d: it never ends", file, node.Line)
	}
	defer func() { b.depth-- }()
	switch node.Kind {
	case yaml.AliasNode:
		return b.value(node.Alias, file)
	case yaml.SequenceNode:
		v := &value{kind: list}
		for _, item := range node.Content {
			one, err := b.value(item, file)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, one)
		}
		return v, nil
	case yaml.MappingNode:
		return b.mapping(node, file)
	default:
		return scalarOf(node, file)
	}
}

func (b *bundler) mapping(node *yaml.Node, file string) (*value, error) {
	v := &value{kind: object}
	for i := 0; i < len(node.Content); i += 2 {
		key, item := node.Content[i], node.Content[i+1]
		switch {
		case key.Tag == "!!merge":
			merged, err := b.value(item, file)
			if err != nil {
				return nil, err
			}
			for _, m := range merged.members {
				v.set(m.name, m.value)
			}
		case key.Value == "$ref" && item.Kind == yaml.ScalarNode:
			ref, inner, err := b.refer(item.Value, file)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, item.Line, err)
			}
			if inner != nil {
				return inner, nil
			}
			v.set("$ref", text(ref))
		default:
			one, err := b.value(item, file)
			if err != nil {
				return nil, err
			}
			v.set(key.Value, one)
		}
	}
	return v, nil
}

// refer resolves a reference. It returns a reference within the document if the target is rootFile, else the
// referenced content.
func (b *bundler) refer(ref, file string) (string, *value, error) {
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
	inner, err := b.value(node, target)
	return "", inner, err
}

func child(node *yaml.Node, name string) *yaml.Node {
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// scalarOf converts a YAML scalar to JSON. Dates become strings, because JSON has no type for them.
func scalarOf(node *yaml.Node, file string) (*value, error) {
	if node.Tag == "!!timestamp" || node.Tag == "!!str" {
		return text(node.Value), nil
	}
	var v any
	if err := node.Decode(&v); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, node.Line, err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, node.Line, err)
	}
	return &value{kind: scalar, raw: raw}, nil
}
