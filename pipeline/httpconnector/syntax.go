package httpconnector

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"sort"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// libraryFault is what the YAML library says of a text that is none.
var libraryFault = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.+)$`)

// Faults that the library gives the line before theirs: it counts from 0, and adds
// the 1 only to what its scanner says, not its parser. Of the others it says where
// what is wrong begins: a bracket or a quote that nobody closes.
var earlyFaults = []string{
	"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected node content", "did not find expected <document start>",
}

// blockFaults get the line before that on which the mapping or list begins, however
// far down it is wrong; the root's is often the first line of the file.
var blockFaults = []string{"did not find expected key", "did not find expected '-' indicator"}

var (
	errEmpty  = errors.New("is empty")
	errSecond = errors.New("holds more than one YAML document")
)

// document is the only one of a text.
func document(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errEmpty
	} else if err != nil {
		return nil, err
	}
	switch err := dec.Decode(new(yaml.Node)); {
	case errors.Is(err, io.EOF):
		return &doc, nil
	case err != nil:
		return nil, err
	}
	return nil, errSecond
}

// syntaxFault is the line on which a text stops being YAML, 0 when that is not known,
// and why.
func syntaxFault(text []byte, err error) (line int, reason error) {
	said, what := libraryError(err)
	switch {
	case what == "":
		return 0, err
	case slices.Contains(blockFaults, what), said == 0:
		line = firstLine(text, what)
	case slices.Contains(earlyFaults, what):
		line = said + 1
	default:
		line = said
	}
	return line, errors.New("is no YAML: " + what)
}

// libraryError are the line and the words of what the library says; no words when it was
// not the library.
func libraryError(err error) (line int, what string) {
	m := libraryFault.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, ""
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// firstLine is the first line of a text that ends in the same fault when it ends
// there. The lines before it are read alike, whatever comes after them.
func firstLine(text []byte, what string) int {
	ends := []int{0}
	for i := range text {
		if text[i] == '\n' {
			ends = append(ends, i+1)
		}
	}
	ends = append(ends, len(text))
	n := sort.Search(len(ends), func(n int) bool {
		_, err := document(text[:ends[n]])
		if err == nil {
			return false
		}
		_, why := libraryError(err)
		return why == what
	})
	if n == len(ends) {
		return 0
	}
	return n
}
