package note

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Writer writes YAML with a comment after each guess, and collects the guesses.
type Writer struct {
	Text    bytes.Buffer
	Guesses []Guess

	path []string // keys of the sections that are being written
}

func (w *Writer) indent() string { return strings.Repeat("  ", len(w.path)) }

// Comment writes a line with a comment.
func (w *Writer) Comment(format string, args ...any) {
	_, _ = fmt.Fprintf(&w.Text, "%s# %s\n", w.indent(), OneLine(fmt.Sprintf(format, args...)))
}

// Gap writes an empty line.
func (w *Writer) Gap() { w.Text.WriteByte('\n') }

// Section writes a key, and below it the keys that the function `inside` writes.
func (w *Writer) Section(key string, inside func()) {
	_, _ = fmt.Fprintf(&w.Text, "%s%s:\n", w.indent(), scalar(key))
	w.path = append(w.path, key)
	inside()
	w.path = w.path[:len(w.path)-1]
}

// Key writes a key with a text as its value, and records the guess.
func (w *Writer) Key(key, value string, certainty Certainty, evidence string, args ...any) {
	w.guess(key, value, scalar(value), certainty, fmt.Sprintf(evidence, args...))
}

// List writes a key with a list of texts as its value, or with a single text, and records the guess.
func (w *Writer) List(key string, values []string, certainty Certainty, evidence string, args ...any) {
	if len(values) == 1 {
		w.Key(key, values[0], certainty, evidence, args...)
		return
	}
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = flow(v)
	}
	w.guess(key, strings.Join(values, ", "), "["+strings.Join(all, ", ")+"]", certainty, fmt.Sprintf(evidence, args...))
}

// Missing writes a comment in place of a key whose value is unknown, and records the key as an [Unknown] guess.
func (w *Writer) Missing(key, evidence, comment string) {
	w.Comment("UNKNOWN: %s", comment)
	w.Guesses = append(w.Guesses, Guess{Key: key, Certainty: Unknown, Evidence: OneLine(evidence)})
}

func (w *Writer) guess(key, value, text string, certainty Certainty, evidence string) {
	evidence = OneLine(evidence)
	mark := ""
	if certainty != Found {
		mark = strings.ToUpper(string(certainty)) + ": "
	}
	_, _ = fmt.Fprintf(&w.Text, "%s%s: %s # %s%s\n", w.indent(), scalar(key), text, mark, evidence)
	w.Guesses = append(w.Guesses, Guess{strings.Join(append(slices.Clip(w.path), key), "."), value, certainty, evidence})
}

// scalar returns a text as a YAML scalar: a boolean for true and false, otherwise a string. In brackets, use flow.
func scalar(text string) string {
	out, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: OneLine(text)})
	if err != nil {
		return fmt.Sprintf("%q", text)
	}
	plain := strings.TrimSpace(string(out))
	for _, word := range []string{"true", "false"} {
		if text == word {
			return word
		}
	}
	return plain
}

// flow returns a text as a YAML scalar that is valid inside a list in brackets.
func flow(text string) string {
	if strings.ContainsAny(text, ",[]{}") {
		return fmt.Sprintf("%q", text)
	}
	return scalar(text)
}

// OneLine returns a text on one line, without the control characters that a reply may contain.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 }), " ")
}
