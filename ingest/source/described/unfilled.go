package described

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"vayu/internal/config"
)

const (
	// Unset is the licence and the attribution in a draft. The author must replace both by those in the network's
	// terms of use.
	Unset = "unknown"
	// FillIn stands in a draft for a required value that could not be guessed.
	FillIn = "FILL-IN"
)

// errFillIn is the fault of a value that the author has not filled in.
var errFillIn = errors.New(FillIn + " stands for what vayu source new could not guess; the comment of the line says what is needed")

// unfilled adds a fault for each value that contains FillIn, and removes other faults of the same line.
func unfilled(f File, faults error) error {
	if !bytes.Contains(f.Text, []byte(FillIn)) {
		return faults
	}
	root, _ := config.ParseYAML(f.Path, f.Text)
	if root == nil {
		return faults
	}
	lines := make(map[int]config.Problem)
	findUnfilled(root, "", func(key string, line int) {
		lines[line] = config.Problem{Key: key, Origin: config.Origin{Source: f.Path, Line: line}, Err: errFillIn}
	})
	if len(lines) == 0 {
		return faults
	}
	all, _ := errors.AsType[config.Problems](faults)
	all = slices.DeleteFunc(slices.Clone(all), func(p config.Problem) bool {
		_, replaced := lines[p.Origin.Line]
		return replaced
	})
	for _, p := range lines {
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b config.Problem) int { return a.Origin.Line - b.Origin.Line })
	return all
}

// findUnfilled calls the function `note` for each value below the node n that contains FillIn. `key` is the key of n.
func findUnfilled(n *yaml.Node, key string, note func(key string, line int)) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, FillIn) {
		note(key, n.Line)
	}
	if n.Kind == yaml.MappingNode {
		for k, v := range config.Pairs(n) {
			findUnfilled(v, config.JoinKey(key, k.Value), note)
		}
		return
	}
	for _, item := range n.Content {
		findUnfilled(item, key, note)
	}
}
