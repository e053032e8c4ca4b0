package httpconnector

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vayu/internal/config"
)

const (
	// maxDescription is the limit of a file in bytes. A description has some hundred lines.
	maxDescription = 1 << 20
	// maxDepth is the limit of nesting. The body of a request is at level four.
	maxDepth = 32
)

// parser reads a file and collects its faults.
type parser struct {
	name     string
	env      func(string) (string, bool)
	faults   []fault
	sections []*Section
	read     map[*yaml.Node]*Section
}

func newParser(from Source) *parser {
	return &parser{name: from.File, env: from.Env, read: map[*yaml.Node]*Section{}}
}

type fault struct {
	line int
	key  string
	err  error
}

var (
	errAlias  = errors.New("anchors, aliases and merge keys are not supported")
	errDollar = errors.New("${ must be followed by the name of a variable and }; write $${X} for the text ${X}")
	errDeep   = fmt.Errorf("nests deeper than %d levels", maxDepth)
)

// parse reads the root of a file. An unreadable file is a fault, and its root is empty.
func (f *parser) parse(text []byte) *Section {
	none := &Section{file: f}
	if len(text) > maxDescription {
		f.fault(0, "", fmt.Errorf("is longer than %d bytes", maxDescription))
		return none
	}
	doc, err := document(text)
	if err != nil {
		line, reason := syntaxFault(text, err)
		f.fault(line, "", reason)
		return none
	}
	if !f.checkNodes(doc.Content[0], maxDepth) {
		return none
	}
	return f.section(doc.Content[0], "", doc.Content[0].Line)
}

// checkNodes reports whether a node is free of aliases and not too deep.
func (f *parser) checkNodes(n *yaml.Node, depth int) bool {
	switch {
	case depth == 0:
		f.fault(n.Line, "", errDeep)
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.ShortTag() == "!!merge":
		f.fault(n.Line, "", errAlias)
		return false
	}
	for _, kid := range n.Content {
		if !f.checkNodes(kid, depth-1) {
			return false
		}
	}
	return true
}

// section reads a mapping. key and line are those of the mapping in the file.
func (f *parser) section(n *yaml.Node, key string, line int) *Section {
	// A repeated read returns the same section, with its known keys.
	if s := f.read[n]; s != nil {
		return s
	}
	s := &Section{file: f, key: key, line: line, given: n.Kind == yaml.MappingNode}
	f.sections = append(f.sections, s)
	f.read[n] = s
	if !s.given {
		f.fault(n.Line, key, errors.New("must be a mapping"))
		return s
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			f.fault(k.Line, key, errors.New("a key must be a single word"))
		case s.find(k.Value) >= 0:
			f.fault(k.Line, join(key, k.Value), errors.New("stands here twice"))
		default:
			s.pairs = append(s.pairs, pair{k.Value, k.Line, v})
		}
	}
	return s
}

func (f *parser) fault(line int, key string, err error) {
	f.faults = append(f.faults, fault{line, key, err})
}

// finish returns every fault of the file in the order of lines, or nil. A key that was never
// read is a fault, too: it is unknown.
func (f *parser) finish() error {
	for _, s := range f.sections {
		for _, p := range s.pairs {
			if !slices.Contains(s.known, p.name) {
				f.fault(p.line, join(s.key, p.name), fmt.Errorf("is unknown; known here: %s", strings.Join(slices.Sorted(slices.Values(s.known)), ", ")))
			}
		}
	}
	if len(f.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(f.faults, func(a, b fault) int { return a.line - b.line })
	all := make(config.Problems, len(f.faults))
	for i, at := range f.faults {
		all[i] = f.asProblem(at)
	}
	return all
}

// variable matches a reference to an environment variable.
var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand returns the text of a scalar with its variables replaced.
func (f *parser) expand(n *yaml.Node, key string) string {
	var out strings.Builder
	rest := n.Value
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			out.WriteString(rest)
			return out.String()
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			out.WriteString(escaped + "${")
			rest = after
			continue
		}
		out.WriteString(before)
		value, length := f.lookup(rest[len(before):], n.Line, key)
		if length == 0 {
			return ""
		}
		out.WriteString(value)
		rest = rest[len(before)+length:]
	}
}

// lookup returns the value of the variable at the beginning of a text, and the length of the
// reference; 0 for a fault. An empty variable counts as missing.
func (f *parser) lookup(text string, line int, key string) (value string, length int) {
	m := variable.FindStringSubmatch(text)
	if m == nil {
		f.fault(line, key, errDollar)
		return "", 0
	}
	if value, _ = f.env(m[1]); value == "" {
		f.fault(line, key, fmt.Errorf("the environment variable %s is not set", m[1]))
	}
	return value, len(m[0])
}
