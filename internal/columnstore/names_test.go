package columnstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNameGroupsFitIntoARequest(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 40_000 {
		names = append(names, fmt.Sprintf("purpleair %d é", i))
	}
	names = append(names, strings.Repeat("x", namesBytes+1), "last")
	var all []string
	groups := 0
	for group := range NameGroups(names) {
		groups++
		all = append(all, group...)
		size := 0
		for _, name := range group {
			size += len(name)
		}
		if len(group) > 1 && size > namesBytes {
			t.Errorf("group %d has %d bytes", groups, size)
		}
	}
	if !slices.Equal(all, names) || groups < 3 {
		t.Errorf("%d groups hold %d names, want all %d in their order", groups, len(all), len(names))
	}
	for range NameGroups(nil) {
		t.Error("an empty list has a group")
	}
}
