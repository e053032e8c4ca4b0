// Package section reads the keys of a description file (YAML). It replaces references to
// environment variables, and reports each fault with its line.
package section

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"vayu/internal/config"
)

// Section is a mapping in a description file. Its methods read the values of keys. An invalid value
// is a fault, which is recorded with its line. The method then returns the fallback, or an empty
// value. A key that is never read is a fault too.
type Section struct {
	file  *parser
	key   string // path from the root, with dots between the keys
	line  int
	given bool
	pairs []Pair
	known []string // keys that were read, in this order
}

// Pair is a key and its value in a mapping.
type Pair struct {
	Name  string
	Line  int // line of the key
	Value *yaml.Node
}

// Entry is a key of a mapping or an item of a list, with its text.
type Entry struct {
	Name string // the key, or the index of the item from 0
	Text string
	Line int
}

// Present reports whether the file has the section.
func (s *Section) Present() bool { return s.given }

// Faultf records a fault of a key. The empty key stands for the section. The text must not contain values from the
// environment, which may be secret.
func (s *Section) Faultf(key, format string, args ...any) {
	line := s.line
	if i := s.find(key); i >= 0 {
		line = s.pairs[i].Line
	}
	s.FaultAt(line, key, fmt.Errorf(format, args...))
}

// FaultAt records a fault of a key at a line of the file.
func (s *Section) FaultAt(line int, key string, err error) {
	s.file.fault(line, config.JoinKey(s.key, key), err)
}

// Text returns the text of a key, with each ${VARIABLE} replaced. It is empty if the key is absent.
func (s *Section) Text(key string) string {
	text, _ := s.text(key)
	return text
}

// Required returns the text of a key, as [Section.Text] does. A missing or empty text is a fault.
func (s *Section) Required(key string) string {
	faults := len(s.file.problems)
	text, there := s.text(key)
	if text == "" && len(s.file.problems) == faults {
		if there {
			s.Faultf(key, "must not be empty")
		} else {
			s.Faultf(key, "is missing")
		}
	}
	return text
}

// Choice returns the text of a key, which must be one of `of`. It returns `fallback` if the key is absent or invalid.
func (s *Section) Choice(key, fallback string, of ...string) string {
	text, there := s.text(key)
	switch {
	case !there:
		return fallback
	case !slices.Contains(of, text):
		s.Faultf(key, "must be %s", oneOf(of))
		return fallback
	}
	return text
}

// Allowed records a fault of a key unless the value is in the list. A nil list allows any value.
func (s *Section) Allowed(key, value string, of []string) {
	if of != nil && !slices.Contains(of, value) {
		s.Faultf(key, "must be %s", oneOf(of))
	}
}

// Bool returns the boolean value of a key, or `fallback` if the key is absent or neither true nor false.
func (s *Section) Bool(key string, fallback bool) bool {
	return s.Choice(key, strconv.FormatBool(fallback), "true", "false") == "true"
}

// Int returns a key's whole number, from `least` to `most`, or `fallback` if the key is absent or the number invalid.
func (s *Section) Int(key string, fallback, least, most int) int {
	text, there := s.text(key)
	if !there {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		s.Faultf(key, "must be a whole number from %d to %d", least, most)
		return fallback
	}
	return n
}

// Duration returns a key's duration, such as 90s, which must be from `least` to `most`. It returns `fallback` if the
// key is absent or the duration invalid.
func (s *Section) Duration(key string, fallback, least, most time.Duration) time.Duration {
	text, there := s.text(key)
	if !there {
		return fallback
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		s.Faultf(key, `must be a duration such as "90s", from %s to %s%s`, shortDuration(least), shortDuration(most), inHours(text))
		return fallback
	}
	return d
}

// inHours returns a hint for a duration in days, such as 7d, which Go cannot parse: the same duration in hours. It
// returns "" for any other text.
func inHours(text string) string {
	number, isDays := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(number)
	if !isDays || err != nil {
		return ""
	}
	return fmt.Sprintf(", in h, m or s: %d days are %dh", days, 24*days)
}

// Section returns the mapping under a key, or an empty Section if the key is absent.
func (s *Section) Section(key string) *Section {
	n := s.Node(key)
	if n == nil {
		return &Section{file: s.file, key: config.JoinKey(s.key, key), line: s.line}
	}
	return s.file.section(n, config.JoinKey(s.key, key), s.pairs[s.find(key)].Line)
}

// List returns the texts of the list under a key. A single text counts as a list of one.
func (s *Section) List(key string) []Entry {
	n := s.Node(key)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode:
		return []Entry{{Name: "0", Text: s.file.expand(n, config.JoinKey(s.key, key)), Line: n.Line}}
	case n.Kind != yaml.SequenceNode:
		s.Faultf(key, "must be a list")
		return nil
	}
	var all []Entry
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", config.JoinKey(s.key, key), i)
		if item.Kind != yaml.ScalarNode {
			s.file.fault(item.Line, at, ErrText)
			continue
		}
		all = append(all, Entry{Name: strconv.Itoa(i), Text: s.file.expand(item, at), Line: item.Line})
	}
	return all
}

// Entries returns all keys of the section that have a text as value, in the order of the file.
func (s *Section) Entries() []Entry {
	all := make([]Entry, 0, len(s.pairs))
	for _, p := range s.pairs {
		if text, there := s.text(p.Name); there {
			all = append(all, Entry{Name: p.Name, Text: text, Line: p.Line})
		}
	}
	return all
}

// Names returns all keys of the section, in the order of the file.
func (s *Section) Names() []string {
	all := make([]string, len(s.pairs))
	for i, p := range s.pairs {
		all[i] = p.Name
	}
	return all
}

// ErrText means that a value is a mapping or a list, where a text is expected.
var ErrText = errors.New("must be a single text or number")

func (s *Section) text(key string) (text string, there bool) {
	n := s.Node(key)
	if n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode {
		s.FaultAt(n.Line, key, ErrText)
		return "", false
	}
	return s.file.expand(n, config.JoinKey(s.key, key)), true
}

// Node returns the value of a key, or nil if it is absent or null. It marks the key as read.
func (s *Section) Node(key string) *yaml.Node {
	if !slices.Contains(s.known, key) {
		s.known = append(s.known, key)
	}
	i := s.find(key)
	if i < 0 || config.IsNull(s.pairs[i].Value) {
		return nil
	}
	return s.pairs[i].Value
}

// Pairs returns the keys and values of n, the mapping under a key. All keys of n count as read, so that Finish does not
// report them.
func (s *Section) Pairs(key string, n *yaml.Node) []Pair {
	below := s.file.section(n, config.JoinKey(s.key, key), n.Line)
	below.known = below.Names()
	return below.pairs
}

// Lookup returns the value of the variable whose reference ${NAME} is at the start of `text`, and the length of that
// reference. The length is 0 if the reference is incomplete. A variable that is unset or empty is a fault.
func (s *Section) Lookup(text string, line int, key string) (value string, length int) {
	return s.file.lookup(text, line, config.JoinKey(s.key, key))
}

func (s *Section) find(key string) int {
	return slices.IndexFunc(s.pairs, func(p Pair) bool { return p.Name == key })
}

func oneOf(all []string) string {
	if len(all) == 1 {
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// shortDuration returns a duration as text without the zeros that String adds: 2m, not 2m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
