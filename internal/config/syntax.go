package config

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

// libraryFault matches the message of a syntax error of the YAML library.
var libraryFault = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.+)$`)

// earlyFaults are the errors that the library reports one line early. The library counts lines from
// 0. It adds 1 only to errors of its scanner, not of its parser. The library reports other errors
// where the fault begins, such as at an unclosed bracket or quote.
var earlyFaults = []string{
	"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected node content", "did not find expected <document start>",
}

// blockFaults are the errors that the library reports one line before the mapping or list that
// contains the fault. For the root mapping that is often the first line of the file.
var blockFaults = []string{"did not find expected key", "did not find expected '-' indicator"}

var errSecond = errors.New("holds more than one YAML document")

// document parses a text that has only one YAML document. It returns nil if the text is empty.
func document(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
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

// syntaxFault returns the line of a syntax error, 0 if unknown, and the reason.
func syntaxFault(text []byte, err error) (line int, reason error) {
	reported, what := libraryError(err)
	switch {
	case what == "":
		return 0, err
	case slices.Contains(blockFaults, what), reported == 0:
		line = firstLine(text, what)
	case slices.Contains(earlyFaults, what):
		line = reported + 1
	default:
		line = reported
	}
	return line, errors.New("is no YAML: " + what)
}

// libraryError returns the line and message of an error of the YAML library. For any other error
// the message is "".
func libraryError(err error) (line int, what string) {
	m := libraryFault.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, ""
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// firstLine returns the least n for which the first n lines of the text have the fault `what`; 0 if
// there is no such n. A binary search works, because more lines keep the fault.
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
