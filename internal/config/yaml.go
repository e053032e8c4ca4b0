package config

import (
	"errors"
	"fmt"
	"iter"

	"go.yaml.in/yaml/v4"
)

const (
	// maxFile is the limit of a file in bytes. Files have some hundred lines.
	maxFile = 1 << 20
	// maxDepth limits the nesting of a file, and thus the depth of the recursion for a hostile file.
	maxDepth = 32
)

var (
	errAlias = errors.New("anchors, aliases and merge keys are not supported")
	errDeep  = fmt.Errorf("nests deeper than %d levels", maxDepth)
)

// ParseYAML parses a file with one YAML document and returns the root node. The node is nil if the file is empty, is
// too long or too deep, is not YAML, or has anchors, aliases or merge keys. The keys of a returned mapping are distinct
// scalars. Problems name the file, the line and the key.
func ParseYAML(file string, text []byte) (*yaml.Node, Problems) {
	if len(text) > maxFile {
		return nil, Problems{{Origin: Origin{Source: file}, Err: fmt.Errorf("is longer than %d bytes", maxFile)}}
	}
	doc, err := document(text)
	if err != nil {
		line, reason := syntaxFault(text, err)
		return nil, Problems{{Origin: Origin{file, line}, Err: reason}}
	}
	if doc == nil {
		return nil, nil
	}
	c := checker{file: file}
	if !c.check(doc.Content[0], "", maxDepth) {
		return nil, c.problems
	}
	return doc.Content[0], c.problems
}

// Pairs returns the keys of a mapping with their values, in the order of the file.
func Pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// IsNull reports whether a node has no value, as "key:" or "key: ~" in a file.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// checker collects the problems of nodes.
type checker struct {
	file     string
	problems Problems
}

func (c *checker) report(n *yaml.Node, key string, err error) {
	c.problems = append(c.problems, Problem{Key: key, Origin: Origin{c.file, n.Line}, Err: err})
}

// check reports whether a node is free of anchors, aliases and merge keys, and not too deep. In
// mappings it removes and reports keys that are duplicate or not scalars.
func (c *checker) check(n *yaml.Node, key string, depth int) bool {
	switch {
	case depth == 0:
		c.report(n, key, errDeep)
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		c.report(n, key, errAlias)
		return false
	case n.Kind == yaml.MappingNode:
		return c.mapping(n, key, depth-1)
	}
	for i, item := range n.Content {
		if !c.check(item, fmt.Sprintf("%s[%d]", key, i), depth-1) {
			return false
		}
	}
	return true
}

func (c *checker) mapping(n *yaml.Node, key string, depth int) bool {
	seen := map[string]bool{}
	kept := []*yaml.Node{}
	for k, v := range Pairs(n) {
		name := JoinKey(key, k.Value)
		switch {
		case k.Kind != yaml.ScalarNode && k.Kind != yaml.AliasNode:
			c.report(k, key, errors.New("a key must be a single word"))
			continue
		case k.Kind == yaml.AliasNode || k.Anchor != "" || k.ShortTag() == "!!merge":
			c.report(k, key, errAlias)
			return false
		case seen[k.Value]:
			c.report(k, name, errors.New("is duplicate"))
			continue
		case !c.check(v, name, depth):
			return false
		}
		seen[k.Value] = true
		kept = append(kept, k, v)
	}
	n.Content = kept
	return true
}
