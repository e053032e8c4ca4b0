package section

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"vayu/internal/config"
)

// parser parses a description file and collects its faults.
type parser struct {
	name     string
	env      func(string) (string, bool)
	problems config.Problems
	sections []*Section
	read     map[*yaml.Node]*Section
}

// ErrDollar means that a text has a ${ that does not begin a complete reference to a variable.
var ErrDollar = errors.New("${ must be followed by the name of a variable and }; write $${X} for the text ${X}")

// Parse returns the root section of a file. The function `env` looks up an environment variable, as os.LookupEnv does.
// If the file is empty or cannot be parsed, that is a fault, and the root is empty.
func Parse(file string, text []byte, env func(string) (string, bool)) *Section {
	f := &parser{name: file, env: env, read: map[*yaml.Node]*Section{}}
	root, problems := config.ParseYAML(f.name, text)
	f.problems = problems
	if root != nil {
		return f.section(root, "", root.Line)
	}
	if len(problems) == 0 {
		f.fault(0, "", errors.New("is empty"))
	}
	return &Section{file: f}
}

// section returns the section for a mapping. `key` and `line` are the mapping's position in the file.
func (f *parser) section(n *yaml.Node, key string, line int) *Section {
	// A second call for n returns the same section, which remembers the keys that were read.
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
	for k, v := range config.Pairs(n) {
		s.pairs = append(s.pairs, Pair{k.Value, k.Line, v})
	}
	return s
}

func (f *parser) fault(line int, key string, err error) {
	f.problems = append(f.problems, config.Problem{Key: key, Origin: config.Origin{Source: f.name, Line: line}, Err: err})
}

// Finish returns all faults of the file in the order of lines, or nil if there are none. A key that no method has read
// is a fault too: it is unknown.
func (s *Section) Finish() error {
	f := s.file
	for _, s := range f.sections {
		for _, p := range s.pairs {
			if !slices.Contains(s.known, p.Name) {
				s.FaultAt(p.Line, p.Name, config.UnknownKey(p.Name, s.known))
			}
		}
	}
	if len(f.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(f.problems, func(a, b config.Problem) int { return a.Origin.Line - b.Origin.Line })
	return f.problems
}

// variable matches a reference to an environment variable, such as ${BANK_KEY}.
var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} in a scalar's text by the variable's value, and $${ by ${. An incomplete ${ yields "".
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

// lookup returns the value of the variable whose reference ${NAME} is at the start of `text`, and the length of that
// reference. The length is 0 if the reference is incomplete. A variable that is unset or empty is a fault.
func (f *parser) lookup(text string, line int, key string) (value string, length int) {
	m := variable.FindStringSubmatch(text)
	if m == nil {
		f.fault(line, key, ErrDollar)
		return "", 0
	}
	if value, _ = f.env(m[1]); value == "" {
		f.fault(line, key, fmt.Errorf("the environment variable %s is not set", m[1]))
	}
	return value, len(m[0])
}
