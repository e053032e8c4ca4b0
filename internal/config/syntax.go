package config

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

var errSecond = errors.New("contains more than one YAML document")

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

// syntaxFault returns the line of a syntax error, or 0 if the line is unknown, and the reason.
func syntaxFault(text []byte, err error) (line int, reason error) {
	fault, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return 0, err
	}
	line = fault.Mark.Line
	switch block := strings.HasPrefix(fault.ContextMsg, "while parsing a block"); {
	case fault.Stage == yaml.ReaderStage: // the error has no line, but a byte offset
		line = 1 + bytes.Count(text[:min(fault.Mark.Index, len(text))], []byte("\n"))
	case fault.ContextMark.Line > 0 && !block: // an unclosed bracket or quote begins there
		line = fault.ContextMark.Line
	}
	return line, errors.New("is not YAML: " + fault.Message)
}
