package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// postsWithoutKey returns the paths of the POSTs of a contract that have no parameter Idempotency-Key.
func postsWithoutKey(contract []byte) ([]string, error) {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(contract, &document); err != nil {
		return nil, err
	}
	without := map[string]bool{}
	for path, operations := range document.Paths {
		var post struct{ Parameters json.RawMessage }
		text, ok := operations["post"]
		if !ok {
			continue
		}
		if err := json.Unmarshal(text, &post); err != nil {
			return nil, err
		}
		if !bytes.Contains(post.Parameters, []byte("dempotency")) {
			without[path] = true
		}
	}
	return slices.Sorted(maps.Keys(without)), nil
}
